// Test helper: machines built by hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"
#include "placement/kernel_calls.h"

namespace numatlas::testing {

/// A node to build: its cores (one list of CPUs a core, first hardware thread first) and memory.
struct NodePlan {
  int id = 0;
  std::vector<std::vector<int>> cores;
  Bytes memory{64 * gib};
};

inline Machine build(const std::vector<NodePlan>& plans) {
  Machine machine;
  machine.source = "test";
  int core = 0;
  for (const NodePlan& plan : plans) {
    NumaNode node;
    node.id = NodeId{plan.id};
    node.memory_total = plan.memory;
    node.memory_free = plan.memory;
    for (const auto& threads : plan.cores) {
      int sibling = 0;
      for (int id : threads) {
        machine.cpus.push_back(Cpu{CpuId{id}, core, 0, NodeId{plan.id}, sibling++});
        node.cpus.insert(CpuId{id});
      }
      ++core;
    }
    if (node.has_memory()) machine.allowance.memory_nodes.insert(node.id);
    machine.nodes.push_back(node);
  }
  std::sort(machine.cpus.begin(), machine.cpus.end(),
            [](const Cpu& a, const Cpu& b) { return a.id < b.id; });
  machine.allowance.affinity = machine.allowance.cpuset = machine.all_cpus();
  return machine;
}

/// Four nodes of two cores with two threads each, numbered as EPYC firmware does: the first threads
/// 0-7 node by node, then all the second ones 8-15.
inline Machine epyc() {
  std::vector<NodePlan> plans;
  for (int n = 0; n < 4; ++n) {
    plans.push_back({n, {{2 * n, 2 * n + 8}, {2 * n + 1, 2 * n + 9}}});
  }
  return build(plans);
}

/// Node 0 with CPUs and memory, node 1 with CPUs only, node 2 with memory only (as CXL), sparse
/// node 7 with both.
inline Machine odd() {
  return build(
      {{0, {{0}, {1}}}, {1, {{2}, {3}}, Bytes{0}}, {2, {}, Bytes{256 * gib}}, {7, {{40}, {41}}}});
}

/// Puts system calls back when a test ends.
class CallsGuard {
 public:
  CallsGuard() = default;
  ~CallsGuard() {
    kernel::calls() = calls_;
    running_system() = system_;
  }
  CallsGuard(const CallsGuard&) = delete;
  CallsGuard& operator=(const CallsGuard&) = delete;

 private:
  kernel::Calls calls_ = kernel::calls();
  Tree system_ = running_system();
};

}  // namespace numatlas::testing

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::epyc;
using ::testing::HasSubstr;
using testing::odd;

PlacementSpec spec_of(const char* cpus, const char* memory = nullptr,
                      std::optional<int> threads = {}) {
  PlacementSpec spec;
  if (cpus != nullptr) spec.cpus = *parse_cpu_spec(cpus);
  if (memory != nullptr) spec.memory = *parse_node_spec(memory);
  spec.threads = threads;
  return spec;
}

TaskContext task_of(int local_rank, int local_size) {
  TaskContext task;
  task.rank = task.local_rank = local_rank;
  task.size = task.local_size = local_size;
  task.launched = true;
  return task;
}

std::vector<int> cpus_of(const Expected<std::vector<WorkerPlacement>>& workers) {
  std::vector<int> cpus;
  EXPECT_TRUE(workers) << (workers ? "" : full_text(workers.error()));
  if (!workers) return cpus;
  for (const auto& worker : *workers) cpus.push_back(worker.cpu ? worker.cpu->value : -1);
  return cpus;
}

std::vector<std::string> memory_of(const Expected<std::vector<WorkerPlacement>>& workers) {
  std::vector<std::string> texts;
  EXPECT_TRUE(workers) << (workers ? "" : full_text(workers.error()));
  if (!workers) return texts;
  for (const auto& worker : *workers) texts.push_back(worker.memory.text());
  return texts;
}

Error error_of(const PlacementSpec& spec, const Machine& machine, const TaskContext& task = {}) {
  const auto workers = resolve_placement(spec, machine, task, 1);
  EXPECT_FALSE(workers);
  return workers ? Error{} : workers.error();
}

TEST(ResolveCpus, DefaultTakesEveryCoreBeforeASibling) {
  Machine machine = testing::build({{0, {{0, 1}, {2, 3}, {4, 5}}}});
  EXPECT_THAT(cpus_of(resolve_placement(spec_of(nullptr), machine, {}, 0)),
              ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("cores"), machine, {}, 0)), ElementsAre(0, 2, 4));
  machine.allowance.affinity = CpuSet{CpuId{1}, CpuId{2}, CpuId{3}};
  EXPECT_THAT(cpus_of(resolve_placement(spec_of(nullptr), machine, {}, 0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("cores"), machine, {}, 0)), ElementsAre(1, 2));
}

TEST(ResolveCpus, NumberOfWorkers) {
  const Machine machine = epyc();
  TaskContext task;
  EXPECT_EQ(resolve_placement(spec_of(nullptr), machine, task, 0)->size(), 16u);
  EXPECT_EQ(resolve_placement(spec_of(nullptr), machine, task, 1)->size(), 1u);
  task.launched = true;
  EXPECT_EQ(resolve_placement(spec_of(nullptr), machine, task, 0)->size(), 1u);
  task.omp_num_threads = 3;
  EXPECT_EQ(resolve_placement(spec_of(nullptr), machine, task, 0)->size(), 3u);
  EXPECT_EQ(resolve_placement(spec_of(nullptr, nullptr, 5), machine, task, 0)->size(), 5u);
  EXPECT_THAT(full_text(error_of(spec_of(nullptr, nullptr, 0), machine)),
              HasSubstr("--threads: 0"));
  EXPECT_THAT(full_text(error_of(spec_of(nullptr, nullptr, 2000000000), machine)),
              HasSubstr("--threads: 2000000000"));
  task.omp_num_threads = 2000000000;
  EXPECT_THAT(full_text(error_of(spec_of(nullptr), machine, task)), HasSubstr("OMP_NUM_THREADS"));
}

TEST(ResolveCpus, TasksWithOneMaskDoNotSitOnEachOther) {
  TaskContext task = task_of(1, 2);
  task.peers_before = 3;
  EXPECT_THAT(cpus_of(resolve_placement(spec_of(nullptr, nullptr, 3), epyc(), task, 1)),
              ElementsAre(3, 4, 5));
  task.peers_before = 15;
  EXPECT_THAT(cpus_of(resolve_placement(spec_of(nullptr, nullptr, 3), epyc(), task, 1)),
              ElementsAre(15, 0, 1));
}

TEST(ResolveCpus, SocketsByTheirNumbers) {
  Machine machine = epyc();
  for (Cpu& cpu : machine.cpus) cpu.package = cpu.node.value / 2;
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("socket:1"), machine, {}, 0)),
              ElementsAre(4, 5, 6, 7, 12, 13, 14, 15));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("socket:1/socket:0"), machine, task_of(1, 2), 0)),
              ElementsAre(0));
  EXPECT_THAT(full_text(error_of(spec_of("socket:7"), machine)),
              HasSubstr("this machine has no socket 7; its sockets are 0, 1"));
  machine.allowance.cpuset = CpuSet{CpuId{0}};
  EXPECT_THAT(full_text(error_of(spec_of("socket:1"), machine)),
              HasSubstr("CPU 4-7,12-15 (all of socket 1) is outside the cpuset"));
  for (Cpu& cpu : machine.cpus) cpu.package = std::nullopt;
  EXPECT_THAT(full_text(error_of(spec_of("socket:0"), machine)),
              HasSubstr("does not say which sockets"));
}

TEST(ResolveCpus, KindsByName) {
  Machine machine = epyc();
  EXPECT_THAT(full_text(error_of(spec_of("kind:performance"), machine)),
              HasSubstr("all cores of this machine are of one kind"));
  CpuSet slow;
  for (int id = 0; id < 4; ++id) slow.insert(CpuId{id});
  machine.cpu_kinds = {{"performance", "", {}, machine.all_cpus() - slow},
                       {"efficiency", "", {}, slow}};
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("kind:efficiency"), machine, {}, 0)),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(full_text(error_of(spec_of("kind:prime"), machine)),
              HasSubstr("no kind of cores 'prime'; its kinds are performance, efficiency"));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("kind:2"), machine, {}, 0)),
              ElementsAre(0, 1, 2, 3));
  // Unless named, those of which there are most come first.
  EXPECT_THAT(cpus_of(resolve_placement(spec_of(nullptr, nullptr, 2), machine, {}, 1)),
              ElementsAre(4, 5));
  machine.allowance.affinity = machine.cpu_kinds[0].cpus;
  EXPECT_THAT(full_text(error_of(spec_of("kind:efficiency"), machine)),
              HasSubstr("CPU 0-3 (all of kind efficiency) is outside the affinity"));
}

TEST(ResolveCpus, OfNodesThatShareThemCountOnce) {
  Machine machine = epyc();
  machine.nodes[1].cpus = machine.nodes[1].cpus | machine.nodes[0].cpus;
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("node:0,1"), machine, {}, 0)),
              ElementsAre(0, 1, 8, 9, 2, 3, 10, 11));
}

TEST(ResolveCpus, IsolatedOnesAreOutsideEveryMask) {
  Machine machine = epyc();
  EXPECT_EQ(error_of(spec_of("isolated"), machine).kind, ErrorKind::unavailable);
  machine.isolated_cpus = CpuSet{CpuId{6}, CpuId{7}, CpuId{14}, CpuId{15}};
  machine.allowance.affinity = machine.all_cpus() - machine.isolated_cpus;
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("isolated"), machine, {}, 0)),
              ElementsAre(6, 7, 14, 15));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("isolated"), machine, task_of(1, 2), 0)),
              ElementsAre(7));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("15,0"), machine, {}, 0)), ElementsAre(15, 0));
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("all"), machine, {}, 0)),
              ElementsAre(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13));
  machine.allowance.cpuset = machine.allowance.affinity;
  EXPECT_EQ(error_of(spec_of("isolated"), machine).kind, ErrorKind::permission);
  EXPECT_EQ(error_of(spec_of("15"), machine).kind, ErrorKind::permission);
}

TEST(ResolveMemory, AllIsWhatMayBeUsed) {
  Machine machine = odd();  // memory on nodes 0, 2 and 7
  EXPECT_EQ(resolve_memory(*parse_node_spec("interleave:all"), machine, 0)->text(),
            "interleave:0,2,7");
  const MemorySpec each = *parse_node_spec("each:all");
  EXPECT_EQ(resolve_memory(each, machine, 1)->text(), "bind:2");
  EXPECT_EQ(resolve_memory(each, machine, 3)->text(), "bind:0");
  machine.nodes[2].kind = "gpu";
  EXPECT_EQ(resolve_memory(*parse_node_spec("bind:all"), machine, 0)->text(), "bind:0,7");
  machine.allowance.memory_nodes = NodeSet{NodeId{7}};
  EXPECT_EQ(resolve_memory(*parse_node_spec("prefer:all"), machine, 0)->text(), "prefer:7");
  machine.allowance.memory_nodes = {};
  const auto none = resolve_memory(*parse_node_spec("bind:all"), machine, 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
}

TEST(ResolveCpus, NoCpuLeft) {
  Machine machine = epyc();
  machine.allowance.affinity = CpuSet{};
  EXPECT_THAT(full_text(error_of(spec_of(nullptr), machine)),
              HasSubstr("affinity none, cpuset 0-15"));
}

TEST(ResolveCpus, OpenMpPinsUnlessTheCommandLineDoes) {
  TaskContext task;
  task.omp_binds = true;
  const auto workers = resolve_placement(spec_of(nullptr, nullptr, 2), epyc(), task, 1);
  ASSERT_TRUE(workers);
  EXPECT_FALSE((*workers)[0].cpu);
  EXPECT_EQ((*workers)[1].cpus, epyc().usable_cpus());
  EXPECT_EQ((*workers)[0].cpu_node, NodeId{-1});
  EXPECT_THAT(cpus_of(resolve_placement(spec_of("4"), epyc(), task, 1)), ElementsAre(4));
}

TEST(ResolveMemory, Default) {
  TaskContext task;
  EXPECT_THAT(memory_of(resolve_placement(spec_of(nullptr), epyc(), task, 1)),
              ElementsAre("local"));
  task.inherited = MemoryPlacement{MemoryMode::bind, {{NodeId{1}, 1}}};
  EXPECT_THAT(memory_of(resolve_placement(spec_of(nullptr), epyc(), task, 1)),
              ElementsAre("inherit"));
  EXPECT_THAT(memory_of(resolve_placement(spec_of(nullptr, "local"), epyc(), task, 1)),
              ElementsAre("local"));
}

TEST(ResolveMemory, InheritKnowsWhatItInherits) {
  TaskContext task;
  task.inherited = MemoryPlacement{MemoryMode::interleave, {{NodeId{1}, 1}, {NodeId{3}, 1}}};
  Machine machine = epyc();
  machine.source = "live";
  const auto workers = resolve_placement(spec_of(nullptr), machine, task, 1);
  ASSERT_TRUE(workers);
  EXPECT_EQ((*workers)[0].memory.text(), "inherit");
  EXPECT_EQ((*workers)[0].memory.in_force(), *task.inherited);
  machine.source = "file";
  const auto recorded = resolve_placement(spec_of(nullptr), machine, task, 1);
  ASSERT_TRUE(recorded);
  EXPECT_EQ((*recorded)[0].memory.in_force().mode, MemoryMode::inherit)
      << "this process's policy is none of a recorded machine's";
}

TEST(ResolveMemory, ThreeWaysOfNotBeingThere) {
  Machine machine = odd();
  machine.allowance.memory_nodes = NodeSet{NodeId{0}, NodeId{2}};
  for (const char* form :
       {"bind:{}", "prefer:{}", "interleave:0,{}", "weighted:0=1,{}=2", "each:0,{}"}) {
    const auto with = [&](const char* node) {
      std::string text = form;
      text.replace(text.find("{}"), 2, node);
      return error_of(spec_of(nullptr, text.c_str()), machine);
    };
    EXPECT_THAT(full_text(with("3")), AllOf(HasSubstr("no NUMA node 3"), HasSubstr("are 0-2,7")));
    EXPECT_EQ(with("3").kind, ErrorKind::unavailable);
    EXPECT_THAT(full_text(with("1")),
                AllOf(HasSubstr("node 1 has no memory"), HasSubstr("with memory: 0,2,7")));
    EXPECT_THAT(full_text(with("7")),
                AllOf(HasSubstr("node 7 exists but is outside"), HasSubstr("Mems_allowed: 0,2")));
    EXPECT_EQ(with("7").kind, ErrorKind::permission);
  }
}

TEST(ResolveMemory, AutoLeavesOutMemoryWithoutCpus) {
  const auto dealt = [](const Machine& machine) {
    return memory_of(resolve_placement(spec_of(nullptr, "auto", 3), machine, {}, 1));
  };
  Machine machine = odd();
  machine.allowance.affinity = CpuSet{CpuId{0}};
  EXPECT_THAT(dealt(machine), ElementsAre("bind:0", "bind:7", "bind:0"))
      << "launchers narrow the affinity of a rank";
  machine.allowance.cpuset = CpuSet{CpuId{0}, CpuId{1}};
  EXPECT_THAT(dealt(machine), ElementsAre("bind:0", "bind:0", "bind:0"));
  machine.allowance.memory_nodes = NodeSet{NodeId{2}};
  EXPECT_THAT(dealt(machine), ElementsAre("bind:2", "bind:2", "bind:2")) << "there is no other";
}

TEST(ResolveMemory, AutoWithoutAnyNode) {
  Machine machine = odd();
  machine.allowance.memory_nodes = NodeSet{NodeId{1}};
  EXPECT_THAT(full_text(error_of(spec_of(nullptr, "auto"), machine)),
              HasSubstr("'auto' finds no node"));
}

}  // namespace
}  // namespace numatlas

#include "benchmarks/copy/team.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>

#include "run/flows.h"

namespace numatlas {
namespace {

const Worker& worker_at(const Layout& layout, int index) {
  return layout.workers[static_cast<std::size_t>(index)];
}

/// Workers on CPUs of these nodes, all without nodes; none unless every host has some.
std::vector<int> workers_near(const Layout& layout, const NodeSet& nodes) {
  if (nodes.empty()) return all_workers(layout);
  const std::vector<int> workers = workers_on(layout, nodes);
  std::set<int> hosts;
  for (int index : workers) hosts.insert(worker_at(layout, index).host);
  return hosts.size() == layout.hosts.size() ? workers : std::vector<int>{};
}

/// From the node of a worker's CPU to all of these together; the greatest number where some
/// distance is unknown.
int distance_to(const Machine& machine, const Worker& worker, const NodeSet& nodes) {
  constexpr int unknown = std::numeric_limits<int>::max();
  const NumaNode* from = machine.find_node(worker.placement.cpu_node);
  if (from == nullptr) return unknown;
  int sum = 0;
  for (NodeId node : nodes) {
    const auto found = from->distance.find(node.value);
    if (found == from->distance.end()) return unknown;
    sum += found->second;
  }
  return sum;
}

/// On each host those with the least distance.
std::vector<int> nearest_workers(const Layout& layout, const std::vector<Machine>& machines,
                                 const NodeSet& nodes) {
  const auto distance = [&](int index) {
    const Worker& worker = worker_at(layout, index);
    return distance_to(machines[static_cast<std::size_t>(worker.host)], worker, nodes);
  };
  std::map<int, int> least;  // by host
  for (int index : all_workers(layout)) {
    const int host = worker_at(layout, index).host;
    const auto [found, added] = least.emplace(host, distance(index));
    if (!added) found->second = std::min(found->second, distance(index));
  }
  std::vector<int> workers;
  for (int index : all_workers(layout)) {
    if (distance(index) == least[worker_at(layout, index).host]) workers.push_back(index);
  }
  return workers;
}

}  // namespace

Team team_for(const Layout& layout, const std::vector<Machine>& machines,
              const MemoryPlacement& from, const MemoryPlacement& to, Side side, int threads) {
  Team team;
  const NodeSet source = from.in_force().node_set(), target = to.in_force().node_set();
  const auto asked = [&] { return side == Side::from ? source : target; };
  if (side == Side::any) {
    team = {all_workers(layout), "any"};
  } else {
    const NodeSet& other = side == Side::from ? target : source;
    const char* const names[] = {"from", "to"};
    team = {workers_near(layout, asked()), names[side == Side::from ? 0 : 1]};
    if (team.workers.empty())
      team = {workers_near(layout, other), names[side == Side::from ? 1 : 0]};
    if (team.workers.empty()) team = {nearest_workers(layout, machines, asked()), "nearest"};
  }
  std::map<int, int> taken;  // by rank
  std::erase_if(team.workers,
                [&](int index) { return taken[worker_at(layout, index).rank]++ >= threads; });
  return team;
}

}  // namespace numatlas

#include "engine/layout.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/agreement.h"
#include "memory/source.h"

namespace numatlas {
namespace {

using nlohmann::json;

json to_json(const WorkerPlacement& worker) {
  return {{"thread", worker.thread},
          {"cpus", to_list(worker.cpus)},
          {"cpu", worker.cpu ? worker.cpu->value : -1},
          {"cpu_node", worker.cpu_node.value},
          {"memory", worker.memory.text()},
          {"in_force", worker.memory.in_force().text()}};
}

/// Inverse of to_json; the text of a placement is parsed by the grammar that wrote it.
Expected<WorkerPlacement> placement_from_json(const json& value) {
  WorkerPlacement worker;
  worker.thread = value["thread"];
  worker.cpus = TRY(parse_list<CpuId>(value["cpus"].get<std::string>()));
  if (value["cpu"] >= 0) worker.cpu = CpuId{value["cpu"]};
  worker.cpu_node = NodeId{value["cpu_node"]};
  const auto memory = TRY(parse_memory_spec(value["memory"].get<std::string>()));
  worker.memory = memory.single;
  if (worker.memory.mode != MemoryMode::inherit || !worker.memory.source.empty()) return worker;
  const auto in_force = TRY(parse_memory_spec(value["in_force"].get<std::string>()));
  worker.memory.inherited = in_force.single.mode;
  worker.memory.nodes = in_force.single.nodes;
  return worker;
}

}  // namespace

std::vector<int> Layout::workers_of(int rank) const {
  std::vector<int> indices;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].rank == rank) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

double Layout::workers_per_cpu() const {
  std::map<int, std::pair<double, CpuSet>> by_host;
  for (const Worker& worker : workers) {
    auto& [count, cpus] = by_host[worker.host];
    ++count;
    cpus = cpus | worker.placement.cpus;
  }
  double most = 0;
  for (const auto& [host, load] : by_host) {
    most = std::max(most, load.first / static_cast<double>(load.second.size()));
  }
  return most;
}

Expected<Layout> gather_layout(Comm& comm, const Expected<std::vector<WorkerPlacement>>& mine) {
  const auto text_of = [](const std::vector<WorkerPlacement>& workers) {
    json text = json::array();
    for (const WorkerPlacement& worker : workers) text.push_back(to_json(worker));
    return text.dump();
  };
  const auto all = TRY(all_gather(comm, mine.map(text_of)));
  Layout layout;
  layout.hosts = comm.layout().hosts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    for (const json& value : json::parse(all[static_cast<std::size_t>(rank)])) {
      auto placement = TRY(placement_from_json(value));
      layout.workers.push_back(
          {rank, comm.layout().host_of[static_cast<std::size_t>(rank)], std::move(placement)});
    }
  }
  return layout;
}

TaskContext task_context(const Comm& comm, const std::vector<std::string>& cpus) {
  TaskContext task = read_task_context();
  task.rank = comm.rank();
  task.size = comm.size();
  task.local_rank = comm.local_rank();
  task.local_size = comm.local_size();
  task.launched = detect_launcher().launched();
  const auto& host_of = comm.layout().host_of;
  const auto own = static_cast<std::size_t>(comm.rank());
  for (std::size_t rank = 0; rank < own; ++rank)
    if (host_of[rank] == host_of[own] && cpus[rank] == cpus[own]) ++task.peers_before;
  return task;
}

Expected<TaskContext> gather_task_context(Comm& comm, const Machine& machine) {
  return task_context(comm, TRY(comm.all_gather(to_list(machine.usable_cpus()))));
}

}  // namespace numatlas

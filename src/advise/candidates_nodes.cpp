#include "advise/candidates_nodes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// Part of a node's free memory that a program may fill: the kernel keeps some.
constexpr double usable_part = 0.95;

bool has_usable_cpus(const Machine& machine, const NumaNode& node) {
  return !(machine.own_cpus(node.id) & machine.usable_cpus()).empty();
}

/// Free now, or in file cache that the kernel drops for it.
double room_of(const NodeList& nodes) {
  double bytes = 0;
  for (const NumaNode* node : nodes) {
    const Bytes free = node->memory_free.value_or(node->memory_total.value_or(Bytes{}));
    bytes += static_cast<double>(free.value + node->memory_cache.value_or(Bytes{}).value);
  }
  return bytes * usable_part;
}

/// Less is better.
using NodeRank = std::tuple<bool, bool, double, double>;

NodeRank rank_of(const ProposalInput& input, const NodeFit& fit) {
  const std::string id = std::to_string(fit.node->id.value);
  std::optional<double> latency;
  if (input.atlas != nullptr)
    latency = input.atlas->value("matrix_latency", {{"cpu_node", id}, {"memory_node", id}});
  return {!fit.too_many_threads.empty(), !fit.no_room.empty(), latency.value_or(1),
          -room_of({fit.node})};
}

}  // namespace

NodeList memory_nodes(const Machine& machine) {
  NodeList nodes;
  for (const NodeId id : machine.ordinary_memory_nodes())
    if (const NumaNode* node = machine.find_node(id)) nodes.push_back(node);
  return nodes;
}

NodeList near_nodes(const Machine& machine) {
  NodeList nodes;
  for (const NumaNode* node : memory_nodes(machine))
    if (has_usable_cpus(machine, *node)) nodes.push_back(node);
  return nodes;
}

std::vector<NodeList> far_tiers(const Machine& machine) {
  std::map<std::tuple<int, std::string>, NodeList> tiers;
  for (const NumaNode* node : memory_nodes(machine))
    if (!has_usable_cpus(machine, *node))
      tiers[{node->memory_tier.value_or(0), node->kind}].push_back(node);
  std::vector<NodeList> all;
  for (auto& [tier, nodes] : tiers) all.push_back(std::move(nodes));
  return all;
}

MemoryPlacement placement_on(MemoryMode mode, const NodeList& nodes) {
  MemoryPlacement memory;
  memory.mode = mode;
  for (const NumaNode* node : nodes) memory.nodes.emplace_back(node->id, 1);
  return memory;
}

std::string room_problem(const ProgramTraits& program, const NodeList& nodes) {
  const double room = room_of(nodes);
  if (!program.memory || static_cast<double>(program.memory->value) <= room) return "";
  return fmt::format("it requires {}, but {} are free there", to_rounded_text(*program.memory),
                     to_rounded_text(Bytes{static_cast<std::uint64_t>(room)}));
}

std::vector<NodeFit> node_fits(const ProposalInput& input) {
  const auto threads = static_cast<std::size_t>(input.program.threads.value_or(1));
  std::vector<NodeFit> fits;
  for (const NumaNode* node : near_nodes(input.machine)) {
    NodeFit fit{node, input.machine.own_cpus(node->id) & input.machine.usable_cpus(), "", ""};
    if (threads > fit.cpus.size())
      fit.too_many_threads = fmt::format("{} threads, but only {} CPUs", threads, fit.cpus.size());
    fit.no_room = room_problem(input.program, {node});
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(), [&](const NodeFit& a, const NodeFit& b) {
    return rank_of(input, a) < rank_of(input, b);
  });
  return fits;
}

}  // namespace numatlas

// Where the memory may lie: nodes, tiers, interleaved.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/candidates.h"

namespace numatlas {
namespace {

using Nodes = std::vector<const NumaNode*>;

/// Part of a node's free memory that a program may fill: the kernel keeps some.
constexpr double usable_part = 0.95;

Nodes memory_nodes(const Machine& machine) {
  Nodes nodes;
  for (const NodeId id : machine.usable_memory_nodes())
    if (const NumaNode* node = machine.find_node(id)) nodes.push_back(node);
  return nodes;
}

bool has_usable_cpus(const Machine& machine, const NumaNode& node) {
  return !(node.cpus & machine.usable_cpus()).empty();
}

MemoryPlacement placement(MemoryMode mode, const Nodes& nodes) {
  MemoryPlacement memory;
  memory.mode = mode;
  for (const NumaNode* node : nodes) memory.nodes.emplace_back(node->id, 1);
  return memory;
}

/// Free now, or in file cache that the kernel drops for it.
double room_of(const Nodes& nodes) {
  double bytes = 0;
  for (const NumaNode* node : nodes) {
    const Bytes free = node->memory_free.value_or(node->memory_total.value_or(Bytes{}));
    bytes += static_cast<double>(free.value + node->memory_cache.value_or(Bytes{}).value);
  }
  return bytes * usable_part;
}

/// Why the program's memory does not fit; "" where it does, or nothing is known of it.
std::string room_problem(const ProgramTraits& program, const Nodes& nodes) {
  const double room = room_of(nodes);
  if (!program.memory || static_cast<double>(program.memory->value) <= room) return "";
  return fmt::format("it requires {}, but {} are free there", to_rounded_text(*program.memory),
                     to_rounded_text(Bytes{static_cast<std::uint64_t>(room)}));
}

/// Nodes without CPUs, by what they are: HBM, CXL, slower tiers.
std::vector<Nodes> far_tiers(const Machine& machine) {
  std::map<std::tuple<int, std::string>, Nodes> tiers;
  for (const NumaNode* node : memory_nodes(machine))
    if (!has_usable_cpus(machine, *node))
      tiers[{node->memory_tier.value_or(0), node->kind}].push_back(node);
  std::vector<Nodes> all;
  for (auto& [tier, nodes] : tiers) all.push_back(std::move(nodes));
  return all;
}

Nodes near_nodes(const Machine& machine) {
  Nodes nodes;
  for (const NumaNode* node : memory_nodes(machine))
    if (has_usable_cpus(machine, *node)) nodes.push_back(node);
  return nodes;
}

/// Less is better: the latency of its own memory as measured, then the memory that is free.
std::pair<double, double> rank_of(const ProposalInput& input, const NumaNode& node) {
  const std::string id = std::to_string(node.id.value);
  std::optional<double> latency;
  if (input.atlas != nullptr)
    latency = input.atlas->value("matrix_latency", {{"cpu_node", id}, {"memory_node", id}});
  return {latency.value_or(1), -room_of({&node})};
}

/// All on the one node that is best; the others of its kind are like it.
std::vector<Candidate> one_node(const ProposalInput& input, const Nodes& near) {
  std::vector<Candidate> all;
  if (near.size() < 2) return all;
  const auto threads = static_cast<std::size_t>(input.program.threads.value_or(1));
  const auto better = [&](const NumaNode* a, const NumaNode* b) {
    return rank_of(input, *a) < rank_of(input, *b);
  };
  const NumaNode* best = *std::min_element(near.begin(), near.end(), better);
  Candidate one;
  one.axis = Axis::memory;
  one.name = fmt::format("node {}", best->id.value);
  one.layout.cpus = best->cpus & input.machine.usable_cpus();
  one.layout.memory = placement(MemoryMode::bind, {best});
  one.because = memory_text(input.atlas, input.machine, best->id, best->id);
  if (one.because.empty()) one.because = "its CPUs and its memory on one node";
  if (threads > one.layout.cpus->size())
    one.not_tried = fmt::format("{} threads, but only {} CPUs", threads, one.layout.cpus->size());
  if (one.not_tried.empty()) one.not_tried = room_problem(input.program, {best});
  all.push_back(std::move(one));
  return all;
}

std::vector<Candidate> of_tier(const ProposalInput& input, const Nodes& nodes, const Nodes& near) {
  std::vector<Candidate> all;
  for (const MemoryMode mode : {MemoryMode::bind, MemoryMode::prefer}) {
    Candidate one;
    one.axis = Axis::memory;
    one.layout.memory = placement(mode, nodes);
    one.name = one.layout.memory->text();
    const NodeId from = near.empty() ? nodes.front()->id : near.front()->id;
    one.because = memory_text(input.atlas, input.machine, from, nodes.front()->id);
    if (one.because.empty())
      one.because = fmt::format("memory of another kind{}",
                                nodes.front()->kind.empty() ? "" : ": " + nodes.front()->kind);
    if (mode == MemoryMode::bind) one.not_tried = room_problem(input.program, nodes);
    all.push_back(std::move(one));
  }
  return all;
}

/// Small whole weights in about the ratio of these bandwidths.
std::vector<int> weights_for(const std::vector<double>& rates) {
  const double least = *std::min_element(rates.begin(), rates.end());
  std::vector<int> weights;
  int common = 0;
  for (const double rate : rates) {
    weights.push_back(std::clamp(static_cast<int>(std::lround(2 * rate / least)), 1, 255));
    common = std::gcd(common, weights.back());
  }
  for (int& weight : weights) weight /= common;
  return weights;
}

std::optional<double> bandwidth_of(const ProposalInput& input, NodeId from, const NumaNode& node) {
  std::optional<double> rate;
  if (input.atlas != nullptr)
    rate = input.atlas->value("matrix_bandwidth", {{"cpu_node", std::to_string(from.value)},
                                                   {"memory_node", std::to_string(node.id.value)}});
  if (!rate && node.hmat) rate = node.hmat->read_bandwidth;
  return rate && *rate > 0 ? rate : std::nullopt;
}

Candidate weighted(const ProposalInput& input, const MemoryPlacement& memory, std::string because) {
  Candidate one;
  one.axis = Axis::weights;
  one.layout.memory = memory;
  one.name = memory.text();
  one.because = std::move(because);
  if (input.weights_problem) one.not_tried = input.weights_problem(memory);
  return one;
}

}  // namespace

std::vector<Candidate> propose_memory(const ProposalInput& input) {
  const Nodes nodes = memory_nodes(input.machine), near = near_nodes(input.machine);
  if (nodes.size() < 2) return {{"memory", Axis::memory, {}, {}, "", "only one node has memory"}};
  std::vector<Candidate> all = one_node(input, near);
  if (input.has_policy) {
    Candidate local;
    local.axis = Axis::memory;
    local.name = "local";
    local.layout.memory = placement(MemoryMode::local, {});
    local.because = "each page where it is first touched, instead of the current policy";
    all.push_back(std::move(local));
  }
  if (near.size() > 1) {
    Candidate one;
    one.axis = Axis::memory;
    one.layout.memory = placement(MemoryMode::interleave, near);
    one.name = one.layout.memory->text();
    one.because = "the bandwidth of all these nodes, whichever CPU touched a page first";
    all.push_back(std::move(one));
  }
  for (const Nodes& tier : far_tiers(input.machine))
    for (Candidate& one : of_tier(input, tier, near)) all.push_back(std::move(one));
  return all;
}

std::vector<Candidate> propose_weights(const ProposalInput& input) {
  const Nodes near = near_nodes(input.machine);
  const auto tiers = far_tiers(input.machine);
  if (input.atlas != nullptr) {
    const Fact* best = input.atlas->find("weights_bandwidth");
    const auto spec = best == nullptr ? Expected<MemorySpec>(fail_usage("", ""))
                                      : parse_memory_spec("weighted:" + where_of(*best, "weights"));
    if (spec) return {weighted(input, spec->single, best->words)};
  }
  if (near.empty() || tiers.empty()) return {};
  Nodes nodes = near;
  nodes.insert(nodes.end(), tiers.front().begin(), tiers.front().end());
  std::vector<double> rates;
  for (const NumaNode* node : nodes) {
    const auto rate = bandwidth_of(input, near.front()->id, *node);
    if (rate) rates.push_back(*rate);
  }
  if (rates.size() != nodes.size())
    return {
        {"weighted",
         Axis::weights,
         {},
         {},
         "",
         "no bandwidths to derive weights from: use --atlas with a result of `numatlas weights`"}};
  MemoryPlacement memory = placement(MemoryMode::weighted, nodes);
  const auto weights = weights_for(rates);
  for (std::size_t i = 0; i < weights.size(); ++i) memory.nodes[i].second = weights[i];
  std::sort(memory.nodes.begin(), memory.nodes.end());
  return {weighted(input, memory, "weights in the ratio of the nodes' bandwidths")};
}

}  // namespace numatlas

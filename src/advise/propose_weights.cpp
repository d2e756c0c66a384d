// Weighted interleave: weights that were measured, that follow from bandwidths, that are in force.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/candidates.h"
#include "advise/candidates_nodes.h"
#include "memory/source.h"

namespace numatlas {
namespace {

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

Candidate weighted(const ProposalInput& input, const MemoryPlacement& memory, std::string because) {
  Candidate one;
  one.axis = Aspect::weights;
  one.layout.memory = memory;
  one.name = memory.text();
  one.prospect = Prospect::weighted;
  one.because = std::move(because);
  if (input.weights_problem) one.not_tried = input.weights_problem(memory);
  return one;
}

Candidate no_weights(std::string reason) {
  return no_candidate("weighted", Aspect::weights, std::move(reason));
}

/// By bandwidths of the nodes, as this says them; nullopt where it does not say them all.
template <class BandwidthOf>
std::optional<MemoryPlacement> by_bandwidth(const NodeList& nodes, const BandwidthOf& bandwidth) {
  std::vector<double> rates;
  for (const NumaNode* node : nodes) {
    const std::optional<double> rate = bandwidth(*node);
    if (!rate || *rate <= 0) return std::nullopt;
    rates.push_back(*rate);
  }
  MemoryPlacement memory = placement_on(MemoryMode::weighted, nodes);
  const auto weights = weights_for(rates);
  for (std::size_t i = 0; i < weights.size(); ++i) memory.nodes[i].second = weights[i];
  std::sort(memory.nodes.begin(), memory.nodes.end());
  return memory;
}

std::optional<double> measured_bandwidth(const ProposalInput& input, NodeId from, NodeId node) {
  if (input.atlas == nullptr) return std::nullopt;
  return input.atlas->value("matrix_bandwidth", {{"cpu_node", std::to_string(from.value)},
                                                 {"memory_node", std::to_string(node.value)}});
}

/// What `numatlas weights` found.
std::optional<Candidate> as_measured(const ProposalInput& input) {
  const Fact* best = input.atlas == nullptr ? nullptr : input.atlas->find("weights_bandwidth");
  if (best == nullptr) return std::nullopt;
  const auto spec = parse_memory_spec("weighted:" + where_of(*best, "weights"));
  if (!spec) return std::nullopt;
  return weighted(input, spec->single, best->words);
}

/// The nodes with CPUs together with the first tier without.
std::optional<Candidate> with_a_tier(const ProposalInput& input) {
  NodeList nodes = near_nodes(input.machine);
  const auto tiers = far_tiers(input.machine);
  if (tiers.empty()) return std::nullopt;
  if (nodes.empty()) return no_weights("no node with memory has CPUs");
  const NodeId from = nodes.front()->id;
  nodes.insert(nodes.end(), tiers.front().begin(), tiers.front().end());
  // The threads may be on all near nodes: the firmware's figure of each for its nearest CPUs.
  const auto memory = by_bandwidth(nodes, [&](const NumaNode& node) {
    const auto rate = measured_bandwidth(input, from, node.id);
    return !rate && node.hmat ? node.hmat->read_bandwidth : rate;
  });
  if (!memory)
    return no_weights(
        "no bandwidths to derive weights from: use --atlas with a result of `numatlas weights`");
  return weighted(input, *memory, "weights in the ratio of the nodes' bandwidths");
}

/// The threads on the best node, their memory on all nodes with CPUs.
std::optional<Candidate> from_one_node(const ProposalInput& input) {
  const NodeList near = near_nodes(input.machine);
  if (near.size() < 2) return std::nullopt;
  // Room is not asked for: the memory is on all of them.
  ProgramTraits of_any_size = input.program;
  of_any_size.memory.reset();
  const NodeFit best = node_fits({input.machine, of_any_size, input.atlas, {}, false, {}}).front();
  if (!best.too_many_threads.empty())
    return no_weights(
        fmt::format("{} threads, but no node has as many CPUs: from all nodes together "
                    "their memory is alike",
                    *input.program.threads));
  const NodeId from = best.node->id;
  const auto memory = by_bandwidth(near, [&](const NumaNode& node) {
    const auto rate = measured_bandwidth(input, from, node.id);
    const bool claimed = node.hmat && node.hmat->initiators.contains(from);
    return !rate && claimed ? node.hmat->read_bandwidth : rate;
  });
  if (!memory)
    return no_weights(
        fmt::format("no bandwidths from node {} to the other nodes: use --atlas with "
                    "a result of `numatlas matrix` or `weights`",
                    from.value));
  Candidate one =
      weighted(input, *memory,
               fmt::format("weights in the ratio of the bandwidths from node {}", from.value));
  one.layout.cpus = best.cpus;
  one.name += fmt::format(", CPUs of node {}", from.value);
  return one;
}

/// Those that the system has, where somebody made them differ.
std::optional<Candidate> as_in_force(const ProposalInput& input) {
  if (!input.kernel_weight) return std::nullopt;
  MemoryPlacement memory = placement_on(MemoryMode::weighted, memory_nodes(input.machine));
  bool differ = false;
  for (auto& [node, weight] : memory.nodes) {
    const auto now = input.kernel_weight(node);
    if (!now) return std::nullopt;
    weight = *now;
    differ = differ || weight != memory.nodes.front().second;
  }
  if (!differ) return std::nullopt;
  return weighted(input, memory, "the weights that this system has");
}

}  // namespace

std::vector<Candidate> propose_weights(const ProposalInput& input) {
  if (memory_nodes(input.machine).size() < 2) return {no_weights("only one node has memory")};
  std::vector<Candidate> all;
  std::optional<Candidate> reason;
  const auto add = [&](std::optional<Candidate> one) {
    if (!one) return;
    if (!one->layout.memory) {
      if (!reason) reason = std::move(one);
      return;
    }
    const auto is_same = [&](const Candidate& other) { return other.layout == one->layout; };
    if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(*std::move(one));
  };
  auto measured = as_measured(input);
  add(measured ? std::move(measured) : with_a_tier(input));
  add(from_one_node(input));
  add(as_in_force(input));
  if (all.empty() && reason) all.push_back(*std::move(reason));
  return all;
}

}  // namespace numatlas

// Where the memory may lie: nodes, tiers, interleaved with equal or other weights; and of which
// kind of pages it is.
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
#include "machine/machine.h"
#include "memory/source.h"
#include "placement/placement.h"

namespace numatlas {
namespace {

using NodeList = std::vector<const NumaNode*>;

/// A near node, and what is against having all of the program there; "" for nothing.
struct NodeFit {
  const NumaNode* node = nullptr;
  CpuSet cpus;
  std::string too_many_threads, no_room;
};

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

/// Nodes with memory that the program may use.
NodeList memory_nodes(const Machine& machine) {
  NodeList nodes;
  for (const NodeId id : machine.ordinary_memory_nodes())
    if (const NumaNode* node = machine.find_node(id)) nodes.push_back(node);
  return nodes;
}

/// Those of them with CPUs that it may use.
NodeList near_nodes(const Machine& machine) {
  NodeList nodes;
  for (const NumaNode* node : memory_nodes(machine))
    if (has_usable_cpus(machine, *node)) nodes.push_back(node);
  return nodes;
}

/// Those without, by what they are: HBM, CXL, slower tiers.
std::vector<NodeList> far_tiers(const Machine& machine) {
  std::map<std::tuple<int, std::string>, NodeList> tiers;
  for (const NumaNode* node : memory_nodes(machine))
    if (!has_usable_cpus(machine, *node))
      tiers[{node->memory_tier.value_or(0), node->kind}].push_back(node);
  std::vector<NodeList> all;
  for (auto& [tier, nodes] : tiers) all.push_back(std::move(nodes));
  return all;
}

/// Weights are 1.
MemoryPlacement placement_on(MemoryMode mode, const NodeList& nodes) {
  MemoryPlacement memory;
  memory.mode = mode;
  for (const NumaNode* node : nodes) memory.nodes.emplace_back(node->id, 1);
  return memory;
}

/// Why the program's memory does not fit; "" where it does, or nothing is known of it.
std::string room_problem(const ProgramTraits& program, const NodeList& nodes) {
  const double room = room_of(nodes);
  if (!program.memory || static_cast<double>(program.memory->value) <= room) return "";
  return fmt::format("it requires {}, but {} are free there", to_rounded_text(*program.memory),
                     to_rounded_text(Bytes{static_cast<std::uint64_t>(room)}));
}

/// The best one first: those that the program fits on, then by the latency of their own memory as
/// measured, then by the memory that is free.
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

/// All of it on one node: `bind`, or `prefer` where it has more memory than fits.
Candidate on_node(const ProposalInput& input, const NodeFit& fit, MemoryMode mode,
                  Prospect prospect) {
  const bool prefers = mode == MemoryMode::prefer;
  Candidate one;
  one.axis = Aspect::memory;
  one.name = fmt::format("node {}{}", fit.node->id.value, prefers ? ", preferred" : "");
  one.layout.cpus = fit.cpus;
  one.layout.memory = placement_on(mode, {fit.node});
  one.prospect = prospect;
  one.because = memory_text(input.atlas, input.machine, fit.node->id, fit.node->id);
  if (one.because.empty()) one.because = "its CPUs and its memory on one node";
  if (prefers) one.because += "; the rest on other nodes";
  return one;
}

/// The best node, then the others likewise.
std::vector<Candidate> on_nodes(const ProposalInput& input) {
  const std::vector<NodeFit> fits = node_fits(input);
  if (fits.size() < 2) return {};
  if (!fits.front().too_many_threads.empty()) {  // for that node, so for all of them
    const auto fewer = [](const NodeFit& a, const NodeFit& b) {
      return a.cpus.size() < b.cpus.size();
    };
    return {no_candidate(
        "one node", Aspect::memory,
        fmt::format("{} threads, but no node has more than {} CPUs", *input.program.threads,
                    std::max_element(fits.begin(), fits.end(), fewer)->cpus.size()))};
  }
  std::vector<Candidate> all;
  for (const NodeFit& fit : fits) {
    const Prospect prospect = all.empty() ? Prospect::best_node : Prospect::other_node;
    all.push_back(on_node(input, fit, MemoryMode::bind, prospect));
    all.back().not_tried = fit.too_many_threads.empty() ? fit.no_room : fit.too_many_threads;
    if (fit.too_many_threads.empty() && !fit.no_room.empty())
      all.push_back(on_node(input, fit, MemoryMode::prefer, prospect));
  }
  return all;
}

std::vector<Candidate> of_tier(const ProposalInput& input, const NodeList& nodes,
                               const NodeList& near) {
  std::vector<Candidate> all;
  for (const MemoryMode mode : {MemoryMode::bind, MemoryMode::prefer}) {
    Candidate one;
    one.axis = Aspect::memory;
    one.layout.memory = placement_on(mode, nodes);
    one.name = one.layout.memory->text();
    one.prospect = Prospect::tier;
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

std::string setting_of(const Machine& machine, const std::string& name) {
  const auto found = std::find_if(machine.settings.begin(), machine.settings.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == machine.settings.end() ? "" : found->value;
}

/// "memory latency 290 ns with base pages, 145 ns with thp pages"; "" where it was not measured.
std::string latency_text(const Atlas* atlas, PageKind pages) {
  if (atlas == nullptr) return "";
  const auto latency = [&](PageKind kind) {
    return atlas->value("memory_latency", {{"pages", name_of(kind)}});
  };
  const auto base = latency(PageKind::base), other = latency(pages);
  if (!base || !other) return "";
  return fmt::format("memory latency {:.0f} ns with base pages, {:.0f} ns with {} pages",
                     *base * 1e9, *other * 1e9, name_of(pages));
}

Candidate of_pages(PageKind pages, std::string because) {
  Candidate one;
  one.axis = Aspect::pages;
  one.name = name_of(pages);
  one.layout.pages = pages;
  one.prospect = pages == PageKind::base ? Prospect::base_pages : Prospect::huge_pages;
  one.because = std::move(because);
  return one;
}

Candidate transparent(const ProposalInput& input, const std::string& enabled) {
  Candidate one = of_pages(PageKind::thp, latency_text(input.atlas, PageKind::thp));
  if (one.because.empty())
    one.because = "fewer TLB misses: the heap asks for transparent huge pages";
  if (enabled == "never") one.not_tried = "transparent huge pages are switched off on this system";
  if (enabled.empty()) one.not_tried = "this system has no transparent huge pages, or hides them";
  return one;
}

Candidate from_pool(const ProposalInput& input) {
  Candidate one = of_pages(PageKind::huge_2m, latency_text(input.atlas, PageKind::thp));
  if (one.because.empty()) one.because = "fewer TLB misses: the heap uses huge pages";
  const Bytes size = huge_page_size(PageKind::huge_2m);
  std::uint64_t free = 0;
  for (const NumaNode& node : input.machine.nodes)
    for (const HugePagePool& pool : node.huge_pages)
      if (pool.page_size == size) free += pool.free;
  const std::uint64_t memory = input.program.memory.value_or(Bytes{size}).value;
  const std::uint64_t needed = (memory + size.value - 1) / size.value;
  if (free < needed)
    one.not_tried = free == 0
                        ? "the system's pool of 2 MiB pages is empty"
                        : fmt::format("it requires {} pages of 2 MiB, but the system's pool has {}",
                                      needed, free);
  return one;
}

}  // namespace

std::vector<Candidate> propose_memory(const ProposalInput& input) {
  const NodeList nodes = memory_nodes(input.machine), near = near_nodes(input.machine);
  if (nodes.size() < 2) return {no_candidate("memory", Aspect::memory, "only one node has memory")};
  std::vector<Candidate> all = on_nodes(input);
  if (input.has_policy) {
    Candidate local;
    local.axis = Aspect::memory;
    local.name = "local";
    local.layout.memory = placement_on(MemoryMode::local, {});
    local.prospect = Prospect::best_node;
    local.because = "each page where it is first touched, instead of the current policy";
    all.push_back(std::move(local));
  }
  if (near.size() > 1) {
    Candidate one;
    one.axis = Aspect::memory;
    one.layout.memory = placement_on(MemoryMode::interleave, near);
    one.name = one.layout.memory->text();
    one.prospect = Prospect::interleave;
    one.because = "the bandwidth of all these nodes, whichever CPU touched a page first";
    all.push_back(std::move(one));
  }
  for (const NodeList& tier : far_tiers(input.machine))
    for (Candidate& one : of_tier(input, tier, near)) all.push_back(std::move(one));
  return all;
}

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

std::vector<Candidate> propose_pages(const ProposalInput& input) {
  constexpr double has_huge = 0.05;
  const std::string enabled = setting_of(input.machine, "thp_enabled");
  std::vector<Candidate> all;
  if (enabled != "always") all.push_back(transparent(input, enabled));
  const bool has_some = input.program.huge_share.value_or(0) > has_huge;
  if (enabled == "always" || (enabled == "madvise" && has_some))
    all.push_back(of_pages(PageKind::base, "saves the time to prepare and clear huge pages"));
  all.push_back(from_pool(input));
  return all;
}

}  // namespace numatlas

// What the kernel makes of its memory. Tiers: nodes of one tier are of one speed, those of a slower
// tier are slower; the kernel demotes pages to the nearest node of the next tier, and to no other
// node of the same one, whatever it is made of. Weights of weighted interleave, which it computes
// from the firmware's bandwidths (Linux 6.16) or an administrator set, against the best ones that
// `numatlas weights` finds.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "benchmarks/weights/search.h"

namespace numatlas {
namespace {

/// A node with what was measured of it from the CPUs that reach it best.
struct TierNode {
  NodeId node;
  int tier = 0;
  const Estimate *latency = nullptr, *bandwidth = nullptr;
};

TierNode measured_node(const NumaNode& node, const AuditInput& input) {
  TierNode one{node.id, *node.memory_tier};
  for (const NodeId row : input.machine.nodes_of(input.machine.usable_cpus())) {
    const Estimate* const latency = input.latency(row, node.id);
    const Estimate* const rate = input.bandwidth(row, node.id);
    if (latency != nullptr && (one.latency == nullptr || latency->value < one.latency->value))
      one.latency = latency;
    if (rate != nullptr && (one.bandwidth == nullptr || rate->value > one.bandwidth->value))
      one.bandwidth = rate;
  }
  return one;
}

bool is_on(const Machine& machine, const std::string& setting) {
  return std::any_of(machine.settings.begin(), machine.settings.end(), [&](const Setting& one) {
    return one.name == setting && (one.value == "true" || one.value == "1");
  });
}

/// Where the kernel demotes to: the node of the next slower tier that is nearest by its distances.
const TierNode* demotion_target(const TierNode& from, const std::vector<TierNode>& all,
                                const Machine& machine) {
  const auto& distances = machine.find_node(from.node)->distance;
  const TierNode* target = nullptr;
  const auto distance = [&](const TierNode& to) {
    const auto found = distances.find(to.node.value);
    return found == distances.end() ? 255 : found->second;
  };
  for (const TierNode& to : all) {
    if (to.tier <= from.tier) continue;
    const bool nearer = target == nullptr || to.tier < target->tier ||
                        (to.tier == target->tier && distance(to) < distance(*target));
    if (nearer) target = &to;
  }
  return target;
}

/// Two nodes of one tier: neither may be slower by a factor that counts.
ClaimVerdict same_tier(const TierNode& one, const TierNode& best, bool demotes) {
  ClaimVerdict verdict{.about = fmt::format("node {}", one.node.value),
                       .claimed = fmt::format("in tier {} with node {}", one.tier, best.node.value),
                       .unit = "1"};
  const std::string next = fmt::format(
      "why the kernel takes it for the same kind (HMAT, CDAT; /sys/devices/virtual/"
      "memory_tiering): pages are never demoted to a node of the same tier{}",
      demotes ? ", although demotion is on" : "");
  const Estimate times = ratio_of(*one.latency, *best.latency);
  verdict.short_found = "latency " + short_ratio(times.value, best.node, "alike");
  verdict = judged(verdict, times, 1, figure_factor, next);
  verdict.found += " its latency";
  if (verdict.outcome == ClaimOutcome::contradicted || one.bandwidth == nullptr ||
      best.bandwidth == nullptr)
    return verdict;
  // Less bandwidth may be fewer CPUs: the latency alone is told where both are alike.
  const Estimate rate = ratio_of(*one.bandwidth, *best.bandwidth);
  if (rate.high && *rate.high < 1 / (figure_factor * figure_factor)) {
    verdict.short_found = "read bandwidth " + short_ratio(rate.value, best.node, "alike");
    verdict = judged(verdict, rate, 1, figure_factor, next);
    verdict.found += " its read bandwidth";
  }
  return verdict;
}

/// A node of a slower tier: one of its figures has to be worse.
ClaimVerdict slower_tier(const TierNode& one, const TierNode& best) {
  ClaimVerdict verdict{.about = fmt::format("node {}", one.node.value),
                       .claimed = fmt::format("in tier {}, slower than node {} in tier {}",
                                              one.tier, best.node.value, best.tier),
                       .unit = "1"};
  verdict.measured = ratio_of(*one.latency, *best.latency);
  verdict.found = estimate_text(*verdict.measured, "1") + " its latency";
  verdict.short_found = "latency " + short_ratio(verdict.measured->value, best.node, "slower");
  bool slower = clearly_more(*one.latency, *best.latency);
  bool known = verdict.measured->high.has_value();
  if (one.bandwidth != nullptr && best.bandwidth != nullptr) {
    const Estimate rate = ratio_of(*one.bandwidth, *best.bandwidth);
    slower = slower || clearly_more(*best.bandwidth, *one.bandwidth);
    known = known && rate.low.has_value();
    verdict.found += fmt::format(", {} its read bandwidth", estimate_text(rate, "1"));
    // It may be slower by less than is sure.
    known = known && (slower || *rate.low > 1 / (1 + 2 * same_part));
  }
  known = known && (slower || *verdict.measured->high < 1 + 2 * same_part);
  if (slower) {
    verdict.outcome = ClaimOutcome::confirmed;
  } else if (known) {
    verdict.outcome = ClaimOutcome::contradicted;
    verdict.next =
        "what made the kernel take it for slower (HMAT, the driver's default for CXL and PMEM)";
  } else {
    verdict.reason = "found " + verdict.found + ": too uncertain; increase --time";
  }
  return verdict;
}

/// What is demoted goes to slower memory.
ClaimVerdict demotion(const TierNode& from, const TierNode& to) {
  ClaimVerdict verdict = slower_tier(to, from);
  verdict.about = fmt::format("demotion from node {}", from.node.value);
  verdict.claimed = fmt::format("cold pages go to node {}, which is slower", to.node.value);
  return verdict;
}

std::vector<ClaimVerdict> judge_tiers(const AuditInput& input) {
  std::vector<TierNode> all;
  for (const NodeId id : input.machine.ordinary_memory_nodes()) {
    const NumaNode& node = *input.machine.find_node(id);
    if (node.memory_tier) all.push_back(measured_node(node, input));
  }
  if (all.size() < 2)
    return {not_measurable({"all nodes"}, all.empty()
                                              ? "the kernel shows no memory tiers"
                                              : "one node has memory: no tiers to compare")};
  const bool demotes = is_on(input.machine, "demotion");
  std::vector<ClaimVerdict> verdicts;
  std::map<int, const TierNode*> best;  // of each tier: the node with the least latency
  for (const TierNode& one : all) {
    const TierNode*& its = best[one.tier];
    if (one.latency != nullptr && (its == nullptr || one.latency->value < its->latency->value))
      its = &one;
  }
  const TierNode* faster = nullptr;  // the best of the next faster tier that was measured
  for (const auto& [tier, its] : best) {
    for (const TierNode& one : all) {
      if (one.tier != tier) continue;
      const std::string about = fmt::format("node {}", one.node.value);
      if (one.latency == nullptr)
        verdicts.push_back(not_measurable({about}, input.why_no("matrix")));
      else if (&one != its)
        verdicts.push_back(same_tier(one, *its, demotes));
      else if (faster != nullptr)
        verdicts.push_back(slower_tier(one, *faster));
    }
    if (its != nullptr) faster = its;
  }
  for (const TierNode& one : all) {
    const TierNode* const to = demotion_target(one, all, input.machine);
    if (!demotes || to == nullptr || one.latency == nullptr || to->latency == nullptr) continue;
    verdicts.push_back(demotion(one, *to));
  }
  return verdicts;
}

// Below it the choice of weights is a matter of taste.
constexpr double least_gain = 1.1;

const Setting* setting_of(const Machine& machine, const std::string& name) {
  const auto found = std::find_if(machine.settings.begin(), machine.settings.end(),
                                  [&](const Setting& one) { return one.name == name; });
  return found == machine.settings.end() ? nullptr : &*found;
}

/// "0=4,1=4,2=1"; what is no such pair is left out.
Weights read_weights(const std::string& text) {
  Weights weights;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int node = 0, weight = 0;
    const auto [equals, bad_node] = std::from_chars(at, end, node);
    if (bad_node != std::errc{} || equals == end || *equals != '=') break;
    const auto [stop, bad_weight] = std::from_chars(equals + 1, end, weight);
    if (bad_weight != std::errc{}) break;
    weights.emplace_back(NodeId{node}, weight);
    at = stop < end ? stop + 1 : end;
  }
  return weights;
}

/// Of these nodes alone, without a common divisor.
Weights reduced(const Weights& all, const NodeSet& nodes) {
  Weights weights;
  int divisor = 0;
  for (const auto& [node, weight] : all) {
    if (!nodes.contains(node)) continue;
    weights.emplace_back(node, weight);
    divisor = std::gcd(divisor, weight);
  }
  for (auto& [node, weight] : weights) weight /= std::max(divisor, 1);
  return weights;
}

NodeSet nodes_in(const Weights& weights) {
  NodeSet nodes;
  for (const auto& [node, weight] : weights) nodes.insert(node);
  return nodes;
}

std::vector<ClaimVerdict> judge_weights(const AuditInput& input) {
  const Setting* const setting = setting_of(input.machine, "interleave_weights");
  if (setting == nullptr)
    return {not_measurable({"kernel"}, "this kernel has no weighted interleave")};
  if (input.machine.ordinary_memory_nodes().size() < 2)
    return {
        not_measurable({"kernel"}, "only one node has memory, so there is nothing to interleave")};
  ClaimVerdict verdict{.about = "kernel", .unit = "1"};
  const Setting* const automatic = setting_of(input.machine, "interleave_auto");
  const bool computed = automatic != nullptr && automatic->value == "true";
  verdict.claimed = fmt::format("{} are the weights ({})", setting->value,
                                computed ? "the kernel's own" : "set by hand, or the default");
  const RunReport* const found = input.report_of("weights");
  const Case* const best = found == nullptr ? nullptr : best_point(*found);
  if (best == nullptr) return {not_measurable(std::move(verdict), input.why_no("weights"))};
  const Weights best_weights = weights_of(*best);
  const NodeSet nodes = nodes_in(best_weights);
  const Weights kernels = reduced(read_weights(setting->value), nodes);
  if (kernels == reduced(best_weights, nodes)) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = "they are the best found";
    return {verdict};
  }
  std::optional<Estimate> gain;
  for (const Case& one : found->cases)
    if (!gain && reduced(weights_of(one), nodes) == kernels) gain = gain_of(*found, *best, one);
  if (!gain || !gain->low)
    return {not_measurable(
        std::move(verdict),
        fmt::format("the best found are {}, and those of the kernel were not measured "
                    "often enough beside them",
                    text_of(best_weights)))};
  verdict.measured = gain;
  verdict.found =
      fmt::format("{} give {} the bandwidth", text_of(best_weights), estimate_text(*gain, "1"));
  std::optional<bool> better;
  if (*gain->low > least_gain) better = true;
  if (*gain->high <= least_gain) better = false;
  return {decided(std::move(verdict), true, better,
                  computed ? "the firmware's bandwidths (HMAT, CDAT), from which the kernel made "
                             "them; or set them: numatlas weights prints how"
                           : "numatlas weights prints how to set the best ones")};
}

}  // namespace

const Claim tiers_claim{"tiers", "memory tiers and demotion against each node's speed", "matrix",
                        [](const Machine& machine) {
                          std::size_t nodes = 0;
                          for (const NodeId id : machine.ordinary_memory_nodes())
                            nodes += machine.find_node(id)->memory_tier.has_value() ? 1 : 0;
                          return nodes > 1;
                        },
                        judge_tiers};

const Claim weights_claim{"weights", "the kernel's interleave weights against the best ones found",
                          "weights",
                          [](const Machine& machine) {
                            return setting_of(machine, "interleave_weights") != nullptr &&
                                   machine.ordinary_memory_nodes().size() > 1;
                          },
                          judge_weights};

}  // namespace numatlas

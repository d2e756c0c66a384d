// The kernel's memory tiers: nodes of one tier are of one speed, those of a slower tier are slower.
// The kernel demotes pages to the nearest node of the next tier, and to no other node of the same
// one, whatever it is made of.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"

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

}  // namespace

const Claim tiers_claim{"tiers", "memory tiers and demotion against each node's speed", "matrix",
                        [](const Machine& machine) {
                          std::size_t nodes = 0;
                          for (const NodeId id : machine.ordinary_memory_nodes())
                            nodes += machine.find_node(id)->memory_tier.has_value() ? 1 : 0;
                          return nodes > 1;
                        },
                        judge_tiers};

}  // namespace numatlas

// Latencies and bandwidths of the firmware's HMAT, and which CPUs it calls nearest (access
// classes), against the matrix. Ratios between nodes are judged everywhere; absolute figures only
// on bare metal, since a guest's firmware knows nothing of the host's memory.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "machine/identity.h"
#include "report/fact_text.h"

namespace numatlas {
namespace {

constexpr const char* check_hmat =
    "the firmware's HMAT (and a CXL device's CDAT): "
    "/sys/devices/system/node/node*/access1/initiators";

/// One of the two quantities.
struct Quantity {
  const char* word;
  Unit unit;
  std::optional<double> HmatFigures::*claimed;
  const Estimate* (AuditInput::*measured)(NodeId, NodeId) const;
  bool least;  ///< less is better
};

constexpr Quantity quantities[] = {
    {"latency", "s", &HmatFigures::read_latency, &AuditInput::latency, true},
    {"read bandwidth", "B/s", &HmatFigures::read_bandwidth, &AuditInput::bandwidth, false}};

/// A node that the firmware has a figure of.
struct Target {
  NodeId node;
  double claimed = 0;
  const Estimate* measured = nullptr;  ///< from its best initiator that was measured
};

std::vector<Target> targets_of(const Quantity& quantity, const AuditInput& input) {
  std::vector<Target> all;
  for (const NodeId id : input.machine.ordinary_memory_nodes()) {
    const NumaNode& node = *input.machine.find_node(id);
    if (!node.hmat || !(node.hmat.value().*quantity.claimed)) continue;
    Target target{id, *(node.hmat.value().*quantity.claimed)};
    for (const NodeId from : node.hmat->initiators) {
      const Estimate* const found = (input.*quantity.measured)(from, id);
      const bool better = found != nullptr && target.measured != nullptr &&
                          (quantity.least ? found->value < target.measured->value
                                          : found->value > target.measured->value);
      if (found != nullptr && (target.measured == nullptr || better)) target.measured = found;
    }
    all.push_back(target);
  }
  std::stable_sort(all.begin(), all.end(), [&](const Target& a, const Target& b) {
    return quantity.least ? a.claimed < b.claimed : a.claimed > b.claimed;
  });
  return all;
}

void judge_quantity(const Quantity& quantity, const AuditInput& input,
                    std::vector<ClaimVerdict>& verdicts) {
  const std::vector<Target> all = targets_of(quantity, input);
  const bool bare = is_bare_metal(input.machine);
  // The best one that was measured is baseline for the other candidates.
  const auto best = std::find_if(all.begin(), all.end(),
                                 [](const Target& one) { return one.measured != nullptr; });
  for (const Target& one : all) {
    ClaimVerdict verdict{.about = fmt::format("node {} {}", one.node.value, quantity.word),
                         .claimed = quantity_text(one.claimed, quantity.unit)};
    if (one.measured == nullptr) {
      verdict.reason = input.why_no("matrix");
    } else if (one.node != best->node) {
      const double times = one.claimed / best->claimed;
      verdict.unit = "1";
      verdict.claimed +=
          fmt::format(", {} that of node {}", three_digits(times) + " times", best->node.value);
      const Estimate found = ratio_of(*one.measured, *best->measured);
      verdict.short_found = short_ratio(found.value, best->node, three_digits(times));
      verdict = judged(verdict, found, times, figure_factor, check_hmat);
    } else if (bare) {
      verdict.unit = quantity.unit;
      verdict = judged(verdict, *one.measured, one.claimed, absolute_factor, check_hmat);
    } else {
      verdict.reason = fmt::format(
          "found {}, and in a virtual machine, or where that is unknown, only ratios between "
          "nodes count",
          estimate_text(*one.measured, quantity.unit));
    }
    verdicts.push_back(std::move(verdict));
  }
}

/// The CPUs that the firmware lists have the best access: no others may be clearly nearer.
void judge_initiators(const NumaNode& node, const AuditInput& input,
                      std::vector<ClaimVerdict>& verdicts) {
  const NodeSet& listed = node.hmat->initiators;
  const NodeSet rows = input.machine.nodes_of(input.machine.usable_cpus());
  if (listed.empty() || rows.size() < 2) return;
  ClaimVerdict verdict{.about = fmt::format("node {} access class", node.id.value),
                       .claimed = "CPUs of node " + to_list(listed) + " are its nearest",
                       .unit = "1"};
  const Estimate *mine = nullptr, *other = nullptr;
  NodeId nearest;
  for (const NodeId row : rows) {
    const Estimate* const found = input.latency(row, node.id);
    const Estimate*& best = listed.contains(row) ? mine : other;
    if (found == nullptr || (best != nullptr && best->value <= found->value)) continue;
    best = found;
    if (!listed.contains(row)) nearest = row;
  }
  if (mine == nullptr || other == nullptr) {
    // All CPUs listed: nothing is claimed.
    if (!(rows - listed).empty()) {
      verdict.reason = input.why_no("matrix");
      verdicts.push_back(std::move(verdict));
    }
    return;
  }
  const Estimate times = ratio_of(*mine, *other);
  verdict.measured = times;
  verdict.found =
      fmt::format("{} the latency of those of node {}", estimate_text(times, "1"), nearest.value);
  verdicts.push_back(judged_best(std::move(verdict), times, check_hmat));
}

std::vector<ClaimVerdict> judge_hmat(const AuditInput& input) {
  std::vector<ClaimVerdict> verdicts;
  for (const Quantity& quantity : quantities) judge_quantity(quantity, input, verdicts);
  for (const NodeId id : input.machine.ordinary_memory_nodes()) {
    const NumaNode& node = *input.machine.find_node(id);
    if (node.hmat) judge_initiators(node, input, verdicts);
  }
  if (verdicts.empty())
    verdicts.push_back(not_measurable({"all nodes"}, "the firmware has no HMAT"));
  return verdicts;
}

}  // namespace

const Claim hmat_claim{
    "hmat", "latency, bandwidth and nearest CPUs of each node's memory (HMAT) against the matrix",
    "matrix",
    [](const Machine& machine) {
      return std::ranges::any_of(machine.nodes,
                                 [](const NumaNode& node) { return node.hmat.has_value(); });
    },
    judge_hmat};

}  // namespace numatlas

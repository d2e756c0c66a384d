// What ACPI's tables claim of nodes. SLIT: distances, against measured latencies: their order, and
// roughly their ratio. The specification means relative latency: 10 is the node itself, 20 twice as
// long. HMAT: latencies and bandwidths, and which CPUs it calls nearest (access classes), against
// the matrix. Ratios between nodes are judged everywhere; absolute figures only on bare metal,
// since a guest's firmware knows nothing of the host's memory.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "machine/identity.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

constexpr const char* check_slit =
    "the firmware's SLIT (numactl --hardware; BIOS options of NUMA and of node interleaving)";

/// Memory as the CPUs of one node see it.
struct Reached {
  NodeId node;
  int distance = 0;
  Estimate latency;
};

std::vector<Reached> reached_from(const NumaNode& from, const AuditInput& input) {
  std::vector<Reached> all;
  for (const NodeId to : input.machine.ordinary_memory_nodes()) {
    const auto distance = from.distance.find(to.value);
    const Estimate* const latency = input.latency(from.id, to);
    if (distance != from.distance.end() && distance->second > 0 && latency != nullptr)
      all.push_back({to, distance->second, *latency});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Reached& a, const Reached& b) { return a.distance < b.distance; });
  return all;
}

/// The claim that `far` is as many times as far as `near` as their distances say.
ClaimVerdict verdict_of(const std::string& about, const Reached& near, const Reached& far) {
  ClaimVerdict verdict{.about = about, .unit = "1"};
  const double times = static_cast<double>(far.distance) / near.distance;
  verdict.claimed =
      fmt::format("node {} {} the distance of node {} ({} against {})", far.node.value,
                  three_digits(times) + " times", near.node.value, far.distance, near.distance);
  const Estimate found = ratio_of(far.latency, near.latency);
  verdict.short_found = fmt::format("latency of node {} {}", far.node.value,
                                    short_ratio(found.value, near.node, three_digits(times)));
  verdict = judged(verdict, found, times, slit_factor, check_slit);
  verdict.found += " its latency";
  return verdict;
}

ClaimVerdict judge_row(const NumaNode& from, const AuditInput& input) {
  const std::string about = fmt::format("from node {}", from.id.value);
  const std::vector<Reached> all = reached_from(from, input);
  if (all.size() < 2) return not_measurable({about}, input.why_no("matrix"));
  // The gravest first: a farther node that is faster than a nearer one.
  std::optional<ClaimVerdict> reversed;
  double most = 1;
  for (const Reached& near : all) {
    for (const Reached& far : all) {
      if (near.distance >= far.distance || !clearly_more(near.latency, far.latency)) continue;
      const double times = near.latency.value / far.latency.value;
      if (times <= most) continue;
      most = times;
      reversed = verdict_of(about, near, far);
      reversed->outcome = ClaimOutcome::contradicted;
      reversed->reason.clear();
      reversed->next = check_slit;
    }
  }
  if (reversed) return *reversed;
  std::optional<ClaimVerdict> farthest;  // or the first that nothing can be said of
  for (std::size_t i = 1; i < all.size(); ++i) {
    ClaimVerdict one = verdict_of(about, all.front(), all[i]);
    if (one.outcome == ClaimOutcome::contradicted) return one;
    if (!farthest || farthest->outcome == ClaimOutcome::confirmed) farthest = std::move(one);
  }
  if (all.size() > 2 && farthest->outcome == ClaimOutcome::confirmed)
    farthest->found += fmt::format("; of {} nodes no farther one is faster", all.size());
  return *farthest;
}

std::vector<ClaimVerdict> judge_slit(const AuditInput& input) {
  if (input.machine.ordinary_memory_nodes().size() < 2)
    return {not_measurable({"all nodes"}, "one node has memory: no distances to compare")};
  std::vector<ClaimVerdict> verdicts;
  for (const NodeId node : input.machine.nodes_of(input.machine.usable_cpus())) {
    const NumaNode& from = *input.machine.find_node(node);
    if (from.distance.size() < 2) continue;
    verdicts.push_back(judge_row(from, input));
  }
  if (verdicts.empty())
    verdicts.push_back(not_measurable({"all nodes"}, "the kernel shows no distances"));
  return verdicts;
}

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

const Claim slit_claim{
    "slit", "distances between nodes (ACPI SLIT) against the order and ratio of latencies",
    "matrix", [](const Machine& machine) { return machine.ordinary_memory_nodes().size() > 1; },
    judge_slit};

const Claim hmat_claim{
    "hmat", "latency, bandwidth and nearest CPUs of each node's memory (HMAT) against the matrix",
    "matrix",
    [](const Machine& machine) {
      return std::ranges::any_of(machine.nodes,
                                 [](const NumaNode& node) { return node.hmat.has_value(); });
    },
    judge_hmat};

}  // namespace numatlas

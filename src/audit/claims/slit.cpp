// Distances between nodes (ACPI SLIT) against measured latencies: their order, and roughly their
// ratio. The specification means relative latency: 10 is the node itself, 20 twice as long.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "report/fact_text.h"

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

}  // namespace

const Claim slit_claim{
    "slit", "distances between nodes (ACPI SLIT) against the order and ratio of latencies",
    "matrix", [](const Machine& machine) { return machine.ordinary_memory_nodes().size() > 1; },
    judge_slit};

}  // namespace numatlas

// Sizes of caches as the kernel shows them against the knees of the latency ladder. A guest, or a
// cache that is partitioned (CAT, MPAM), may have far less than it shows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "machine/cache_share.h"
#include "record/labels.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

// The ladder has two sizes to an octave at best, and the largest one that a cache holds shares it
// with whatever else is there.
constexpr double least_held = 0.6;

// One size says nothing of where a cache ends.
constexpr std::size_t least_sizes = 2;

/// A point of the latency ladder that has a figure.
struct Measured {
  const Case* one = nullptr;
  std::string level;  ///< that its size fits
  Estimate latency;
};

/// On the kind of cores that stands for the machine; of others the same sizes may fit other levels.
std::vector<Measured> measured_cases(const AuditInput& input) {
  const auto first = input.machine.representative_of(input.machine.usable_cpus());
  const CpuKind* const kind = first ? input.machine.kind_of(*first) : nullptr;
  std::vector<Measured> points;
  for (const RunReport& report : input.reports) {
    if (report.command != "latency") continue;
    for (const Case& one : report.cases) {
      if (one.flows.empty() || !host_estimate_of(one, "latency")) continue;
      if (kind == nullptr) {
        points.push_back({&one, one.flows.front().level, *host_estimate_of(one, "latency")});
        continue;
      }
      for (const FlowResult& flow : one.flows) {
        const CpuSet& cpus = report.workers[static_cast<std::size_t>(flow.worker)].cpus;
        const Figure* const figure = find_figure(flow, "latency");
        if (cpus.empty() || !kind->cpus.contains(cpus.front())) continue;
        if (figure == nullptr || !figure->estimate) continue;
        points.push_back({&one, flow.level, *figure->estimate});
        break;
      }
    }
  }
  return points;
}

/// Sizes of the latency ladder that have a figure.
struct Ladder {
  std::set<Bytes> held;         ///< by a level
  bool reaches_beyond = false;  ///< a larger level, or memory, was measured too
};

Ladder ladder_of(const std::string& level, const std::string& pages, Bytes largest_held,
                 const AuditInput& input) {
  Ladder ladder;
  for (const auto& [point, its, latency] : measured_cases(input)) {
    if (point->pages != pages) continue;
    if (its == level && point->size <= largest_held) ladder.held.insert(point->size);
    // "L1" to "L4" sort as they should, and before "memory".
    ladder.reaches_beyond = ladder.reaches_beyond || its > level;
  }
  return ladder;
}

/// Why a size that a level is said to hold may be beyond it: the first sizes past the level, up to
/// four times it, take about as long. Larger ones take longer by misses of the TLB too. "" where it
/// is faster, or nothing there was measured.
std::string doubt_text(const std::string& level, const std::string& pages, Bytes shown, Bytes held,
                       const AuditInput& input) {
  std::optional<Measured> at, beyond;
  for (const Measured& one : measured_cases(input)) {
    if (one.one->pages != pages) continue;
    const Bytes size = one.one->size;
    if (one.level == level && size == held) at = one;
    if (one.level > level && size <= Bytes{4 * shown.value} &&
        (!beyond || beyond->latency.value < one.latency.value))
      beyond = one;
  }
  if (!at || !beyond || at->latency.value < as_slow_as_beyond * beyond->latency.value) return "";
  return fmt::format(
      "at {} it takes {}, about as long as {}, which lies beyond it ({}): its end was not seen; a "
      "guest often has a part of a cache, and neighbours share it: measure more sizes with "
      "`numatlas latency --size`, when it is quiet",
      to_rounded_text(held), estimate_text(at->latency, "s"), to_rounded_text(beyond->one->size),
      estimate_text(beyond->latency, "s"));
}

/// Why a level has no latency of its own where it is about as slow as what lies beyond it; "" where
/// that is not the reason.
std::string unseen_text(const std::string& level, const AuditInput& input) {
  std::string pages;  // of several kinds the last has the fewest misses of the TLB
  for (const RunReport& report : input.reports) {
    if (report.command == "latency" && !report.cases.empty()) pages = report.cases.back().pages;
  }
  std::optional<Measured> first, beyond;
  for (const Measured& one : measured_cases(input)) {
    if (one.one->pages != pages) continue;
    const Bytes size = one.one->size;
    if (one.level == level && (!first || size < first->one->size)) first = one;
    if (one.level > level && (!beyond || size > beyond->one->size)) beyond = one;
  }
  if (!first || !beyond) return "";
  const Estimate &own = first->latency, &next = beyond->latency;
  if (own.value < as_slow_as_beyond * next.value) return "";
  return fmt::format(
      "at {}, the smallest size measured, it takes {}, about as long as {}, which lies beyond it "
      "({}): where it ends cannot be seen",
      to_rounded_text(first->one->size), estimate_text(own, "s"),
      to_rounded_text(beyond->one->size), estimate_text(next, "s"));
}

/// For each cache that a CPU sees: twice the size of the cache before it, which times hits even
/// where the machine gives far less of the cache than it shows, then sixteenths of the cache.
/// Past the last cache twice and four times it, whose misses of the TLB are like its own, and one
/// size in memory, which takes longest.
std::string sizes_of(const Machine& machine, CpuId cpu, Bytes last) {
  constexpr std::uint64_t step = kib;
  std::string sizes;
  std::uint64_t before = 0;
  for (int level = 1; level <= 4; ++level) {
    const Cache* const cache = machine.cache_of(cpu, level);
    const std::uint64_t own = cache == nullptr ? 0 : own_cache_share(machine, *cache, cpu).value;
    if (own <= before) continue;
    std::uint64_t smallest = 2 * before;
    for (const std::uint64_t part : {1U, 2U, 4U, 6U, 8U, 10U, 12U}) {
      const std::uint64_t size = own * part / 16;
      if (size <= before + before / 2) continue;
      if (0 < smallest && smallest < size / 2) sizes += compact_text(Bytes{smallest}) + ",";
      smallest = 0;
      sizes += compact_text(Bytes{size / step * step}) + ",";
    }
    before = own;
  }
  for (const std::uint64_t times : {std::uint64_t{2}, std::uint64_t{4}})
    if (times * before < last.value) sizes += compact_text(Bytes{times * before}) + ",";
  return sizes + compact_text(last);
}

/// The survey's ladder of powers says little of where a cache ends.
std::vector<std::string> words_of_ladder(const Machine& machine) {
  const FirstCpus firsts = first_cpu_of_each_node(without_side_caches(machine));
  const std::optional<CpuId>& first = firsts.first;
  if (!first || machine.cache_of(*first, 1) == nullptr) return {};
  // As large as the matrix's.
  return {"--size",   sizes_of(machine, *first, firsts.past_caches),
          "--serial", "--stats",
          "--cpus",   firsts.list};
}

ClaimVerdict judge_level(const std::string& level, Bytes shown, const AuditInput& input) {
  ClaimVerdict verdict{.about = level, .unit = "B"};
  const auto size = static_cast<double>(shown.value);
  verdict.claimed = to_text(shown);
  verdict.claimed_value = size;
  const Fact* latency = input.find("cache_latency", {{"level", level}});
  const bool has_plateau = latency != nullptr;
  if (!has_plateau) latency = input.find("cache_latency_lowest", {{"level", level}});
  if (latency == nullptr) {
    verdict.reason = unseen_text(level, input);
    if (verdict.reason.empty()) verdict.reason = input.why_no("latency");
    return verdict;
  }
  // Of several kinds of pages that with the fewest misses of the TLB is the one with facts.
  const Fact* const end = input.find("cache_capacity", {{"level", level}});
  const std::string pages = where_of(*latency, "pages");
  if (!has_plateau && end == nullptr) {
    verdict.reason = unseen_text(level, input);
    if (verdict.reason.empty())
      verdict.reason =
          fmt::format("its latency rises with every size, from {}: where it ends cannot be seen",
                      estimate_text(latency->estimate, "s"));
    return verdict;
  }
  if (end != nullptr) {
    if (!end->estimate.high)
      return not_measurable(std::move(verdict),
                            fmt::format("found that it ends above {}, and not where",
                                        quantity_text(end->estimate.value, "B")));
    verdict.measured = end->estimate;
    verdict.found =
        fmt::format("it ends at {} ({} pages)", estimate_text(end->estimate, "B"), pages);
    if (*end->estimate.high < least_held * size) {
      verdict.outcome = ClaimOutcome::contradicted;
      verdict.next =
          "whether a hypervisor shows another machine's cache, or the cache is partitioned "
          "(/sys/fs/resctrl) or shared with busy neighbours";
      return verdict;
    }
  }
  const Ladder ladder = ladder_of(
      level, pages, end == nullptr ? shown : Bytes{static_cast<std::uint64_t>(end->estimate.value)},
      input);
  if (ladder.held.size() < least_sizes || !ladder.reaches_beyond ||
      static_cast<double>(ladder.held.rbegin()->value) < least_held * size) {
    const std::string largest =
        ladder.held.empty()
            ? ""
            : fmt::format(", the largest {}", to_rounded_text(*ladder.held.rbegin()));
    verdict.reason = fmt::format("it holds {} of the sizes measured{}{}: too few; increase --time",
                                 ladder.held.size(), largest,
                                 ladder.reaches_beyond ? "" : ", and none beyond it measured");
    return verdict;
  }
  verdict.reason = doubt_text(level, pages, shown, *ladder.held.rbegin(), input);
  if (!verdict.reason.empty()) return verdict;
  verdict.outcome = ClaimOutcome::confirmed;
  if (end == nullptr)
    verdict.found = fmt::format("it holds all {} sizes measured, up to {} ({}, {} pages)",
                                ladder.held.size(), to_rounded_text(*ladder.held.rbegin()),
                                estimate_text(latency->estimate, "s"), pages);
  return verdict;
}

std::vector<ClaimVerdict> judge_caches(const AuditInput& input) {
  std::vector<ClaimVerdict> verdicts;
  const auto first = input.machine.representative_of(input.machine.usable_cpus());
  std::set<int> levels;
  for (const Cache& cache : input.machine.caches) levels.insert(cache.level);
  for (const int level : levels) {
    // The ladder runs on CPUs of every node and kind; of unlike ones the cache of that which stands
    // for all of them counts.
    const Cache* const cache = first ? input.machine.cache_of(*first, level) : nullptr;
    if (cache != nullptr && cache->size.value > 0)
      verdicts.push_back(judge_level(fmt::format("L{}", level),
                                     own_cache_share(input.machine, *cache, *first), input));
  }
  if (verdicts.empty())
    verdicts.push_back(not_measurable({"all levels"}, "the kernel shows no caches"));
  return verdicts;
}

}  // namespace

const Claim caches_claim{
    "caches",     "cache sizes against the sizes at which latency rises",
    "latency",    [](const Machine& machine) { return !machine.caches.empty(); },
    judge_caches, words_of_ladder};

}  // namespace numatlas

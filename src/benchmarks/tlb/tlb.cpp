// Reach of the TLB's levels and cost of a miss: a chase over one line of each page, against one
// over as many packed lines.
#include "benchmarks/tlb/tlb.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/common.h"
#include "memory/source.h"
#include "placement/placement.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas::benchmark_tlb {
namespace {

// Below it costs are alike whatever they are: noise of a load that hits the first-level cache.
constexpr double floor_s = 1e-9;
constexpr double least_step_s = 0.8e-9, least_step_times = 1.4;
// A level between two others holds at least twice as much as the one before it: three numbers of
// pages, as these are half an octave apart.
constexpr std::size_t least_between = 3, least_at_ends = 2;
// One level more has to explain so much of what is left, or it is the slope of a walk's cost.
constexpr double explained = 0.5;

/// The points cut into runs.
class Runs {
 public:
  explicit Runs(const std::vector<TlbPoint>& points) {
    for (const TlbPoint& point : points)
      logs_.push_back(std::log((std::max(0.0, point.cost) + floor_s) / floor_s));
  }
  std::size_t size() const { return logs_.size(); }
  double mean(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += logs_[i];
    return sum / static_cast<double>(end - begin);
  }
  /// In seconds.
  double cost(std::size_t begin, std::size_t end) const {
    return (std::exp(mean(begin, end)) - 1) * floor_s;
  }
  double squares(std::size_t begin, std::size_t end) const {
    const double middle = mean(begin, end);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += (logs_[i] - middle) * (logs_[i] - middle);
    return sum;
  }
  /// Whether the run up to `end` costs surely more than the one up to `begin`.
  bool steps(std::size_t start, std::size_t begin, std::size_t end) const {
    const double low = std::exp(mean(start, begin)), high = std::exp(mean(begin, end));
    // All of the second run: an outlier in it makes no step of the others.
    const double lowest = std::exp(*std::min_element(at(begin), at(end)));
    return high >= least_step_times * low && (high - low) * floor_s >= least_step_s &&
           (lowest - low) * floor_s >= least_step_s / 2;
  }

 private:
  std::vector<double>::const_iterator at(std::size_t index) const {
    return logs_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  std::vector<double> logs_;
};

struct Cut {
  std::size_t first = 0, second = 0;  ///< where the second and the third run begin
  double squares = 0;
};

/// Into two runs, or into three, each of which costs surely more than the one before it.
std::optional<Cut> best_cut(const Runs& runs, bool into_three) {
  std::optional<Cut> best;
  const std::size_t end = runs.size(), last = end - least_at_ends;
  for (std::size_t a = least_at_ends; a <= last; ++a) {
    for (std::size_t b = into_three ? a + least_between : end; b <= (into_three ? last : end);
         ++b) {
      const double squares = runs.squares(0, a) + runs.squares(a, b) + runs.squares(b, end);
      const bool steps = runs.steps(0, a, b) && (b == end || runs.steps(a, b, end));
      if (steps && (!best || squares < best->squares)) best = Cut{a, b, squares};
    }
  }
  return best;
}

/// The step within a first run that begins without a cost and does not stay so, whatever an outlier
/// leaves of it.
std::optional<Cut> step_within(const std::vector<TlbPoint>& points, const Runs& runs,
                               std::size_t end) {
  std::optional<Cut> best;
  if (std::none_of(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(end),
                   [](const TlbPoint& point) { return point.cost < least_step_s / 2; }))
    return best;
  for (std::size_t at = least_at_ends; at + least_at_ends <= end; ++at) {
    const double squares = runs.squares(0, at) + runs.squares(at, end);
    if (runs.cost(at, end) - runs.cost(0, at) >= least_step_s && (!best || squares < best->squares))
      best = Cut{at, end, squares};
  }
  return best;
}

// 4 times what the largest TLB of today holds (3072 entries), with base pages 64 MiB.
constexpr int most_base_pages = 16384;
// Half an octave beyond 2048 entries, which most second levels have at most: 6 GiB in pages of 2
// MiB.
constexpr int most_huge_pages = 3072;
constexpr int most_pages = 1 << 22;

/// Powers of two and the numbers half way between them, from `low` to `high`.
void add_between(std::set<int>& counts, int low, int high) {
  for (std::int64_t power = 1; power <= high; power *= 2) {
    for (const std::int64_t count : {power, power + power / 2})
      if (count >= std::max(low, 2) && count <= high) counts.insert(static_cast<int>(count));
  }
}

/// "8-16384" or "64,96,128".
Expected<std::set<int>> parse_page_counts(const std::string& text) {
  std::set<int> counts;
  for (const std::string& word : words_of(text)) {
    const std::size_t dash = word.find('-');
    const auto low = TRY(parse_whole<int>(word.substr(0, dash), 2, most_pages, ""));
    counts.insert(low);
    if (dash == std::string::npos) continue;
    const auto high = TRY(parse_whole<int>(word.substr(dash + 1), low, most_pages, ""));
    counts.insert(high);
    add_between(counts, low, high);
  }
  if (counts.empty())
    return fail_usage("", "no number of pages is named", "such as 8-16384 or 64,96,128");
  return counts;
}

struct Options {
  std::set<int> counts;  ///< empty: by kind of pages
};

void add_options(Options& own, CLI::App& app) {
  add_parsed(
      app, "--page-counts", own.counts, "", "COUNTS",
      fmt::format("numbers of pages: a list (64,96,128), or the powers of two in a range and "
                  "the numbers half way between them (8-16384)\n"
                  "The default is 8-{} base pages, 8-{} of 2 MiB, 2-{} of 1 GiB; fewer if "
                  "that is more than half of a node's free memory",
                  most_base_pages, most_huge_pages, most_huge_pages),
      parse_page_counts)
      ->group("Measurement");
}

Bytes times(int count, Bytes size) { return Bytes{static_cast<std::uint64_t>(count) * size.value}; }

Bytes page_of(const PlanInput& input, PageKind kind) {
  return page_bytes(input.machines.front(), kind);
}

/// Another line of every page, so that the lines lie in all sets of the caches, as packed ones do.
Bytes stride_of(const PlanInput& input, PageKind kind) {
  const CpuSet& cpus = worker_of(input, 0).placement.cpus;
  return Bytes{page_of(input, kind).value + line_bytes(machine_of(input, 0), cpus).value};
}

/// One of each worker.
std::vector<Flow> chases(const PlanInput& input, Bytes size, PageKind kind,
                         const ChaseWalk& walk = {}) {
  std::vector<Flow> flows;
  for (int worker : all_workers(input.layout))
    flows.push_back(chase_flow(input, worker, size, kind, walk));
  return flows;
}

/// Why a worker cannot have so many pages of a kind.
std::optional<Error> pool_problem(const PlanInput& input, PageKind kind, int count) {
  return page_kind_problem(kind, input.machines.front(), {}, times(count, page_of(input, kind)));
}

std::set<int> counts_of(const Options& own, const PlanInput& input, PageKind kind) {
  if (!own.counts.empty()) return own.counts;
  std::set<int> counts, fit;
  add_between(counts, is_from_pool(kind) && huge_page_size(kind) >= Bytes{512 * mib} ? 2 : 8,
              kind == PageKind::base ? most_base_pages : most_huge_pages);
  const std::vector<Flow> flows = chases(input, Bytes{}, kind);
  for (const int count : counts) {
    const Bytes size = times(count, stride_of(input, kind));
    const bool fits = is_from_pool(kind) ? !pool_problem(input, kind, count)
                                         : size_with_room(input, size, flows) >= size;
    if (!fits && !fit.empty()) break;
    fit.insert(count);
  }
  return fit;
}

/// Why there are no pages of this kind, and how many the least number of lines takes; of numbers
/// that were asked for, all.
std::optional<Error> problem_of(const Options& own, const PlanInput& input, PageKind kind) {
  const auto problem = [&](int count) { return pool_problem(input, kind, count); };
  if (!problem(1)) return std::nullopt;
  const std::set<int> counts = counts_of(own, input, kind);
  return problem(own.counts.empty() ? *counts.begin() : *counts.rbegin());
}

/// Lines to follow, each in a page of this kind.
struct Spread {
  PageKind kind;
  int count, most;  ///< of this kind
  std::optional<Error> problem;
};

/// By kind of pages; of one that is not there one value for all numbers of pages.
std::vector<AxisValue> spread_lines(const Options& own, const PlanInput& input) {
  std::vector<AxisValue> values;
  for (const PageKind kind : input.pages) {
    const std::set<int> counts = counts_of(own, input, kind);
    const int most = *counts.rbegin();
    const auto problem = problem_of(own, input, kind);
    const auto add = [&](int count, const std::string& text, const std::string& reach) {
      values.push_back({{text, "one per page", name_of(kind), reach},
                        Spread{kind, count, most, problem},
                        false});
    };
    if (problem) {
      add(*counts.begin(), "", "");
      continue;
    }
    for (const int count : counts)
      add(count, std::to_string(count), compact_text(times(count, page_of(input, kind))));
  }
  return values;
}

Expected<Point> spread_point(const PlanInput& input, const AxisSetting& now) {
  const auto& [kind, count, most, problem] = now.of<Spread>();
  const Bytes stride = stride_of(input, kind), size = times(count, stride);
  Point point{.flows = chases(input, size, kind, {ChainOrder::random, stride}),
              .size = size,
              .pages = kind};
  // Zeroing 6 GiB takes seconds: once for all counts.
  for (Flow& flow : point.flows) flow.region.within = times(most, stride);
  if (problem) point.skip = renamed(*problem, "pages", "--pages");
  return point;
}

/// As many as of any kind of pages that is there.
std::vector<AxisValue> packed_lines(const Options& own, const PlanInput& input) {
  std::set<int> all;
  for (const PageKind kind : input.pages)
    if (!problem_of(own, input, kind)) all.merge(counts_of(own, input, kind));
  std::vector<AxisValue> values;
  for (const int count : all) values.push_back({{std::to_string(count), "packed"}, count, false});
  return values;
}

/// Whether each worker can have a transparent huge page, which has 512 MiB on some kernels.
bool room_for_thp(const PlanInput& input) {
  if (page_kind_problem(PageKind::thp, input.machines.front(), {}, Bytes{})) return false;
  const Bytes page = page_bytes(input.machines.front(), PageKind::thp);
  return size_with_room(input, page, chases(input, page, PageKind::thp)) >= page;
}

/// In huge pages, of which the first level of any TLB holds enough; else page by page.
Expected<Point> packed_point(const PlanInput& input, const AxisSetting& now) {
  const bool huge = room_for_thp(input);
  Point point{.pages = huge ? PageKind::thp : PageKind::base, .reference = true};
  for (int worker : all_workers(input.layout)) {
    const Bytes line =
        line_bytes(machine_of(input, worker), worker_of(input, worker).placement.cpus);
    point.size = times(now.of<int>(), line);
    point.flows.push_back(chase_flow(input, worker, *point.size, *point.pages,
                                     {huge ? ChainOrder::random : ChainOrder::page_local, line}));
  }
  return point;
}

/// Lines of each kind of pages are compared with packed ones in huge pages.
Expected<void> check(const PlanInput& input) {
  for (const Worker& worker : input.layout.workers) {
    const MemoryPlacement& memory = worker.placement.memory;
    if (!source_of(memory).takes_pages)
      return fail_usage("--memory",
                        fmt::format("{} has the pages that its source gives, and tlb chooses them",
                                    memory.text()),
                        "name nodes, such as bind:0");
  }
  return {};
}

SurveyPart survey(const Machine& machine) {
  return {1,
          {"--pages", base_and_best_pages(machine)},
          {{"kinds of pages", {"page_kind"}, 1, Keep::first},
           {"numbers of pages", {"page_count"}, 12}}};
}

int pages_of(const Case* one) { return std::stoi(label_of(*one, "page_count")); }

/// What was measured with one kind of pages, by number of pages.
struct Series {
  std::string kind;
  Bytes page;
  std::vector<const Case*> cases = {};
  std::vector<TlbPoint> points = {};
  std::vector<TlbLevel> levels = {};

  int pages(std::size_t index) const { return points[index].pages; }
  Bytes reach(std::size_t index) const { return times(pages(index), page); }
};

Series series_of(const CaseGroup& group) {
  const Bytes stride = group.cases.front()->stride;
  Series series{group.labels.front().second, Bytes{stride.value - stride.value % 4096}};
  for (const Case* one : group.cases) {
    const auto cost = host_estimate_of(*one, "tlb_miss_cost");
    // What may be far less than nothing says nothing of a step.
    constexpr double least_cost = -1e-9;
    if (cost && cost->low.value_or(cost->value) >= least_cost) series.cases.push_back(one);
  }
  std::ranges::sort(series.cases, {}, pages_of);
  for (const Case* one : series.cases)
    series.points.push_back({pages_of(one), host_estimate_of(*one, "tlb_miss_cost")->value});
  series.levels = tlb_levels(series.points);
  return series;
}

void add_verdict(View& view, const CaseGroup& group, const RunReport&) {
  const Series series = series_of(group);
  const auto& [kind, page, cases, points, levels] = series;
  const auto add = [&](std::string line) { view.verdict.push_back(std::move(line)); };
  if (levels.empty() && !points.empty())
    add(fmt::format("no TLB misses show up to {} pages ({})", points.back().pages,
                    to_text(series.reach(points.size() - 1))));
  if (!levels.empty() && levels.front().number > 1)
    add(fmt::format("L1 TLB: fewer than {} pages, which cost {:.1f} ns already",
                    points.front().pages,
                    points[typical_of(points, 0, levels.front().last + 1)].cost * in_ns));
  for (const auto& [number, last, typical] : levels)
    add(fmt::format("L{} TLB: {} to {} pages ({} to {}); a miss costs {:.1f} ns ({} pages)", number,
                    series.pages(last), series.pages(last + 1), to_text(series.reach(last)),
                    to_text(series.reach(last + 1)), points[typical].cost * in_ns,
                    series.pages(typical)));
}

Table table() {
  return {.title = "Loads of one line per page in ns ({page_kind} pages)",
          .kind = ViewKind::curve,
          .apart = {"page_kind", "lines"},
          .only = {"tlb_miss_cost"},
          .rows = "page_count",
          .cells = {label_column("pages", "page_count"), label_column("reach", "reach"),
                    label_column("lines fit", "level"),
                    figure_column("one per page", "latency", in_ns, Part::with_interval),
                    figure_column("packed", "packed_latency", in_ns),
                    figure_column("TLB cost", "tlb_miss_cost", in_ns)},
          .notes = {"packed: as many lines side by side; TLB cost: what one line per page adds to "
                    "a load"},
          .finish = add_verdict};
}

/// Reach in bytes and cost of a miss of each level, by kind of pages.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& group : groups_of(report, {"page_kind", "lines"})) {
    const Series series = series_of(group);
    for (const auto& [number, last, typical] : series.levels) {
      const std::string name = fmt::format("L{} TLB", number);
      const Labels where{{"level", name}, {"page_kind", series.kind}};
      Estimate reach(static_cast<double>(series.reach(last).value));
      reach.low = reach.value;
      reach.high = static_cast<double>(series.reach(last + 1).value);
      reach.method = Method::derived;
      reach.n = series.points.size();
      facts.push_back({"tlb_reach", where,
                       fmt::format("memory that the {} reaches with {} pages; {} pages, the next "
                                   "number measured is {}",
                                   name, series.kind, series.pages(last), series.pages(last + 1)),
                       "B", reach, "TLB", fmt::format("{} {{}} ({} pages)", name, series.kind)});
      facts.push_back({"tlb_miss_cost", where,
                       fmt::format("additional time of a load that misses the {} ({} {} pages)",
                                   name, series.pages(typical), series.kind),
                       "s", *host_estimate_of(*series.cases[typical], "tlb_miss_cost"), "TLB",
                       "a miss {}"});
    }
  }
  return facts;
}

/// What packed lines take, and how much longer one line a page.
Against against_packed(const std::string& key, Against::As as) {
  return {key, "latency", "lines", "packed", {"page_count"}, as};
}

}  // namespace

std::size_t typical_of(const std::vector<TlbPoint>& points, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> order;
  for (std::size_t i = begin; i < end; ++i) order.push_back(i);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].cost < points[b].cost; });
  return *middle;
}

std::vector<TlbLevel> tlb_levels(const std::vector<TlbPoint>& points) {
  const Runs runs(points);
  if (runs.size() < 2 * least_at_ends) return {};
  std::optional<Cut> cut = best_cut(runs, false);
  const auto two = best_cut(runs, true);
  if (two && (!cut || two->squares <= (1 - explained) * cut->squares)) cut = two;
  if (!cut) return {};
  if (runs.cost(0, cut->first) > least_step_s) {
    const auto within = step_within(points, runs, cut->first);
    if (!within) return {{2, cut->first - 1, typical_of(points, cut->first, cut->second)}};
    cut = within;
  }
  std::vector<TlbLevel> levels{{1, cut->first - 1, typical_of(points, cut->first, cut->second)}};
  if (cut->second < runs.size())
    levels.push_back({2, cut->second - 1, typical_of(points, cut->second, runs.size())});
  return levels;
}

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "tlb",
      .help =
          {.summary = "reach and miss cost of each TLB level, by page size",
           .listing = {Topic::pages, true},
           .description =
               "A worker follows a random cycle through one cache line of each of n pages, and one "
               "through n packed lines. Both need the same cache space; what the first takes "
               "longer is the cost of TLB misses. Where it rises with n, a TLB level ends. Page "
               "sizes that are not available are skipped, with the reason. --time covers all page "
               "counts together.",
           .examples =
               {{"Reach and miss cost of the TLB with base pages", "numatlas tlb --pages base"},
                {"Around the end of a level, finer than the default steps",
                 "numatlas tlb --pages base --page-counts 1024,1280,1536,1792,2048,2304,2560"}}},
      .options = {.less_memory_hint =
                      "ask for fewer pages with --page-counts, or for fewer workers with --cpus",
                  .refused = {{"--threads", "tlb accepts one number", "run it once for each",
                               true}},
                  .usual_cpus = "one CPU",
                  .usual_pages = "base,thp,2M,1G",
                  .time = {"10s", true},
                  .size = "--page-counts"},
      .sweeps = {{.point = spread_point,
                  .name = "[{page_count} ]{page_kind} pages",
                  .axes = {{.labels = {"page_count", "lines", "page_kind", "reach"},
                            .values = with(spread_lines)}}},
                 {.point = packed_point,
                  .name = "{page_count} packed lines",
                  .axes = {{.labels = {"page_count", "lines"}, .values = with(packed_lines)}}}},
      .add_options = with(add_options),
      .workers = one_worker,
      .check = check,
      .figures = {.against = {against_packed("packed_latency", Against::As::other),
                              against_packed("tlb_miss_cost", Against::As::more)}},
      .shown = {.tables = {table()}, .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_tlb

// Reach of the TLB's levels and cost of a miss: a chase over one line of each page, against one
// over as many packed lines.
#include <algorithm>
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
#include "benchmarks/survey_words.h"
#include "benchmarks/tlb/levels.h"
#include "placement/placement.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas::benchmark_tlb {
namespace {

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

/// "8-16384" or "64,96,128", ascending.
Expected<std::vector<int>> parse_page_counts(const std::string& text) {
  constexpr const char* option = "--page-counts";
  std::set<int> counts;
  for (const std::string& word : words_of(text)) {
    const std::size_t dash = word.find('-');
    const auto low = TRY(parse_whole<int>(word.substr(0, dash), 2, most_pages, option));
    counts.insert(low);
    if (dash == std::string::npos) continue;
    const auto high = TRY(parse_whole<int>(word.substr(dash + 1), low, most_pages, option));
    counts.insert(high);
    add_between(counts, low, high);
  }
  if (counts.empty())
    return fail_usage(option, "no number of pages is named", "such as 8-16384 or 64,96,128");
  return std::vector<int>(counts.begin(), counts.end());
}

struct Options {
  std::string counts_text;
  std::vector<int> counts;  ///< empty: by kind of pages
};

void add_options(Options& own, CLI::App& app) {
  add_value(app, "--page-counts", own.counts_text, "COUNTS",
            fmt::format("numbers of pages: a list (64,96,128), or the powers of two in a range and "
                        "the numbers half way between them (8-16384)\n"
                        "The default is 8-{} base pages, 8-{} of 2 MiB, 2-{} of 1 GiB; fewer if "
                        "that is more than half of a node's free memory",
                        most_base_pages, most_huge_pages, most_huge_pages))
      ->group("Measurement");
}

Expected<void> parse(Options& own, Benchmark&) {
  if (own.counts_text.empty()) return {};
  own.counts = TRY(parse_page_counts(own.counts_text));
  return {};
}

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

std::vector<int> counts_of(const Options& own, const PlanInput& input, PageKind kind) {
  if (!own.counts.empty()) return own.counts;
  std::set<int> counts;
  add_between(counts, is_from_pool(kind) && huge_page_size(kind) >= Bytes{512 * mib} ? 2 : 8,
              kind == PageKind::base ? most_base_pages : most_huge_pages);
  const std::vector<Flow> flows = chases(input, Bytes{}, kind);
  std::vector<int> fit;
  for (const int count : counts) {
    const Bytes size{static_cast<std::uint64_t>(count) * stride_of(input, kind).value};
    if (size_with_room(input, size, flows) < size && !fit.empty()) break;
    fit.push_back(count);
  }
  return fit;
}

PlannedScenario lines_point(const PlanInput& input, std::string name, int count, PageKind kind,
                            Bytes stride, const std::string& lines) {
  PlannedScenario planned = new_point(
      input, std::move(name), Bytes{static_cast<std::uint64_t>(count) * stride.value}, kind);
  planned.head.kernel = "chase";
  planned.head.stride = stride;
  planned.head.order = name_of(ChainOrder::random);
  planned.head.labels = {{"page_count", std::to_string(count)}, {"lines", lines}};
  planned.optional = true;
  return planned;
}

void add_spread(Plan& plan, const PlanInput& input, PageKind kind, const std::vector<int>& counts) {
  const Bytes page = page_of(input, kind);
  // One reason for all numbers of pages.
  const auto problem = page_kind_problem(kind, input.machines.front(), {}, page);
  const int most = counts.empty() ? 0 : std::ranges::max(counts);
  for (const int count : counts) {
    PlannedScenario planned = lines_point(input, fmt::format("{} {} pages", count, name_of(kind)),
                                          count, kind, stride_of(input, kind), "one per page");
    planned.head.labels.emplace_back("page_kind", name_of(kind));
    planned.head.labels.emplace_back(
        "reach", compact_text(Bytes{static_cast<std::uint64_t>(count) * page.value}));
    if (problem) {
      planned.head.name = fmt::format("{} pages", name_of(kind));
      planned.skip = renamed(*problem, "pages", "--pages");
      return add_point(plan, std::move(planned));
    }
    planned.scenario.flows =
        chases(input, planned.head.size, kind, {ChainOrder::random, planned.head.stride});
    // Zeroing 6 GiB takes seconds: once for all counts.
    for (Flow& flow : planned.scenario.flows)
      flow.region.within = Bytes{static_cast<std::uint64_t>(most) * planned.head.stride.value};
    add_point(plan, std::move(planned), input.options.serial);
  }
}

/// Whether each worker can have a transparent huge page, which has 512 MiB on some kernels.
bool room_for_thp(const PlanInput& input) {
  if (page_kind_problem(PageKind::thp, input.machines.front(), {}, Bytes{})) return false;
  const Bytes page = page_bytes(input.machines.front(), PageKind::thp);
  return size_with_room(input, page, chases(input, page, PageKind::thp)) >= page;
}

/// In huge pages, of which the first level of any TLB holds enough; else page by page.
void add_packed(Plan& plan, const PlanInput& input, const std::set<int>& counts) {
  const bool huge = room_for_thp(input);
  const PageKind kind = huge ? PageKind::thp : PageKind::base;
  const ChainOrder order = huge ? ChainOrder::random : ChainOrder::page_local;
  for (const int count : counts) {
    PlannedScenario planned =
        lines_point(input, fmt::format("{} packed lines", count), count, kind, Bytes{}, "packed");
    planned.reference = true;
    planned.head.order = name_of(order);
    for (int worker : all_workers(input.layout)) {
      const Bytes line =
          line_bytes(machine_of(input, worker), worker_of(input, worker).placement.cpus);
      planned.head.stride = line;
      planned.head.size = Bytes{static_cast<std::uint64_t>(count) * line.value};
      planned.scenario.flows.push_back(
          chase_flow(input, worker, planned.head.size, kind, {order, line}));
    }
    add_point(plan, std::move(planned), input.options.serial);
  }
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  Plan plan;
  std::set<int> all;
  for (const PageKind kind : input.pages) {
    const std::vector<int> counts = counts_of(own, input, kind);
    add_spread(plan, input, kind, counts);
    if (!plan.back().skip) all.insert(counts.begin(), counts.end());
  }
  add_packed(plan, input, all);
  return plan;
}

SurveyPart survey(const Machine& machine) {
  return {1,
          {"--pages", base_and_best_pages(machine)},
          {{"kinds of pages", {"page_kind"}, 1, Keep::first},
           {"numbers of pages", {"page_count"}, 12}}};
}

int pages_of(const ScenarioResult& one) { return std::atoi(label_of(one, "page_count").c_str()); }

/// What was measured with one kind of pages, by number of pages.
struct Sweep {
  std::string kind;
  Bytes page;
  std::vector<const ScenarioResult*> cases;
  std::vector<TlbPoint> points;
};

std::vector<Sweep> sweeps_of(const RunReport& report) {
  std::vector<Sweep> sweeps;
  for (const ScenarioResult& one : report.scenarios) {
    const std::string kind = label_of(one, "page_kind");
    const auto cost = host_estimate_of(one, "tlb_miss_cost");
    // What may be far less than nothing says nothing of a step.
    constexpr double least_cost = -1e-9;
    if (kind.empty() || !cost || cost->low.value_or(cost->value) < least_cost) continue;
    if (sweeps.empty() || sweeps.back().kind != kind)
      sweeps.push_back({kind, Bytes{one.stride.value - one.stride.value % 4096}, {}, {}});
    sweeps.back().cases.push_back(&one);
  }
  for (Sweep& sweep : sweeps) {
    std::sort(sweep.cases.begin(), sweep.cases.end(),
              [](const auto* a, const auto* b) { return pages_of(*a) < pages_of(*b); });
    for (const ScenarioResult* one : sweep.cases)
      sweep.points.push_back({pages_of(*one), host_estimate_of(*one, "tlb_miss_cost")->value});
  }
  return sweeps;
}

Bytes reach_of(const Sweep& sweep, std::size_t index) {
  return Bytes{static_cast<std::uint64_t>(sweep.points[index].pages) * sweep.page.value};
}

std::vector<std::string> verdict_of(const Sweep& sweep) {
  std::vector<std::string> lines;
  const std::vector<TlbLevel> levels = tlb_levels(sweep.points);
  if (!levels.empty() && levels.front().number > 1)
    lines.push_back(fmt::format(
        "L1 TLB: fewer than {} pages, which cost {:.1f} ns already", sweep.points.front().pages,
        sweep.points[typical_of(sweep.points, 0, levels.front().last + 1)].cost * 1e9));
  for (const TlbLevel& level : levels) {
    lines.push_back(fmt::format(
        "L{} TLB: {} to {} pages ({} to {}); a miss costs {:.1f} ns ({} pages)", level.number,
        sweep.points[level.last].pages, sweep.points[level.last + 1].pages,
        to_text(reach_of(sweep, level.last)), to_text(reach_of(sweep, level.last + 1)),
        sweep.points[level.typical].cost * 1e9, sweep.points[level.typical].pages));
  }
  if (levels.empty() && !sweep.points.empty())
    lines.push_back(fmt::format("no TLB misses show up to {} pages ({})", sweep.points.back().pages,
                                to_text(reach_of(sweep, sweep.points.size() - 1))));
  return lines;
}

/// Adds to every case with one line a page "packed_latency" (of as many packed lines) and
/// "tlb_miss_cost" (how much longer its loads take), in s.
void conclude(RunReport& report) {
  for (ScenarioResult& one : report.scenarios) {
    if (label_of(one, "page_kind").empty()) continue;
    for (const ScenarioResult& packed : report.scenarios) {
      if (!label_of(packed, "page_kind").empty() || pages_of(packed) != pages_of(one)) continue;
      const auto more = estimate_of(one, "latency"), less = estimate_of(packed, "latency");
      if (!more || !less) continue;
      one.figures.push_back({"packed_latency", "s", *less, std::nullopt});
      one.figures.push_back({"tlb_miss_cost", "s", difference_of(*more, *less), std::nullopt});
    }
  }
}

std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  const std::vector<Sweep> sweeps = sweeps_of(report);
  for (const CaseGroup& group : groups_of(report, {"page_kind"})) {
    const std::string& kind = group.labels.front().second;
    const auto sweep = std::find_if(sweeps.begin(), sweeps.end(),
                                    [&](const Sweep& one) { return one.kind == kind; });
    if (sweep == sweeps.end()) continue;
    View view;
    view.kind = ViewKind::curve;
    view.title = fmt::format("Loads of one line per page in ns ({} pages)", kind);
    // Packed lines belong to all kinds, and have no layout of this name.
    view.where = {{"page_kind", kind}, {"lines", "one per page"}};
    view.notes = {
        "packed: as many lines side by side; TLB cost: what one line per page adds to a "
        "load"};
    view.rows = "page_count";
    view.cells = {label_column("pages", "page_count"),
                  label_column("reach", "reach"),
                  label_column("lines fit", "level"),
                  figure_column("one per page", "latency", in_ns, Part::with_interval),
                  figure_column("packed", "packed_latency", in_ns),
                  figure_column("TLB cost", "tlb_miss_cost", in_ns)};
    view.verdict = verdict_of(*sweep);
    views.push_back(std::move(view));
  }
  return views;
}

/// Reach in bytes and cost of a miss of each level, by kind of pages.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const Sweep& sweep : sweeps_of(report)) {
    const std::vector<TlbLevel> levels = tlb_levels(sweep.points);
    for (const TlbLevel& level : levels) {
      const std::string name = fmt::format("L{} TLB", level.number);
      const std::vector<std::pair<std::string, std::string>> where{{"level", name},
                                                                   {"page_kind", sweep.kind}};
      Estimate reach(static_cast<double>(reach_of(sweep, level.last).value));
      reach.low = reach.value;
      reach.high = static_cast<double>(reach_of(sweep, level.last + 1).value);
      reach.method = Method::derived;
      reach.n = sweep.points.size();
      facts.push_back({"tlb_reach", where,
                       fmt::format("memory that the {} reaches with {} pages; {} pages, the next "
                                   "number measured is {}",
                                   name, sweep.kind, sweep.points[level.last].pages,
                                   sweep.points[level.last + 1].pages),
                       "B", reach, "TLB", fmt::format("{} {{}} ({} pages)", name, sweep.kind)});
      facts.push_back({"tlb_miss_cost", where,
                       fmt::format("additional time of a load that misses the {} ({} {} pages)",
                                   name, sweep.points[level.typical].pages, sweep.kind),
                       "s", *host_estimate_of(*sweep.cases[level.typical], "tlb_miss_cost"), "TLB",
                       "a miss {}"});
    }
  }
  return facts;
}

}  // namespace

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
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = one_worker,
      .plan = with(plan),
      .figures = {.conclude = conclude},
      .shown = {.views = views, .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_tlb

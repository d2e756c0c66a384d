// Page faults: what it costs until memory is there, by kind of pages, call, node and number of
// threads.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::benchmark_faults {
namespace {

// Far more than a step, and little of any node.
constexpr Bytes usual_fault_size{64 * mib};

Expected<Point> point(const PlanInput& input, const AxisSetting& now) {
  const Machine& machine = input.machines.front();
  const auto& place = now.of<NodeChoice>(1);
  FaultParameters work;
  work.page = page_bytes(machine, now.pages);
  work.pool = is_from_pool(now.pages);
  work.faulting = now.of<Faulting>();
  Point point{.labels = {{"page", compact_text(work.page)}}, .size = whole_steps(now.size, work)};
  for (int worker = 0; worker < now.threads; ++worker) {
    Flow& flow =
        point.flows.emplace_back(plain_flow(input, {work}, worker, *point.size, now.pages));
    if (place.node) flow.region.placement = bound_to(*place.node);
  }
  if (place.node) point.skip = nodes_skip(machine, {*place.node}, "choose with --nodes");
  return point;
}

/// Alike for all numbers of threads, which are compared.
Bytes usual_size_of(const PlanInput& input, const AxisSetting& now) {
  AxisSetting most = now;
  most.size = usual_fault_size;
  most.threads = std::ranges::max(counts_of_cpus(input));
  return size_with_room(input, most.size, point(input, most)->flows);
}

std::vector<Figure> flow_figures(const FlowResult& flow, const Case& visit) {
  const auto pages = mean_rate(flow, "fault_time");
  const auto page = parse_bytes(label_of(visit, "page"));
  if (!pages || !page) return {};
  const auto bytes = static_cast<double>(page->value);
  std::vector<Figure> figures{
      {"touch_rate", "B/s", as_sure_as(bytes * pages->value, *pages), std::nullopt}};
  const Figure* const faults = find_figure(flow.figures, "faults_per_page");
  if (faults != nullptr && faults->estimate) {
    figures.push_back({"faults", "1/s", as_sure_as(pages->value * faults->estimate->value, *pages),
                       std::nullopt});
  }
  return figures;
}

std::vector<Figure> totals(const Case& visit, const RunReport&) {
  std::vector<Figure> figures;
  for (const auto& [key, sum_key] :
       {std::pair("touch_rate", "touch_rate_sum"), {"faults", "faults_sum"}}) {
    const auto sum = sum_over_flows(visit, key, sum_key);
    if (!sum) return {};
    figures.push_back(*sum);
  }
  return figures;
}

SurveyPart survey(const Machine& machine) {
  const bool several = machine.ordinary_memory_nodes().size() > 1;
  const std::size_t all = machine.usable_cpus().size();
  return {1,
          {"--pages", "base,thp,2M,1G", "--how", "touch,madvise", "--nodes",
           several ? "all" : "local", "--threads", all > 1 ? fmt::format("1,{}", all) : "1"},
          {{"nodes", {"node"}, 1},
           {"ways to fault", {"how"}, 1, Keep::first},
           {"kinds of pages", {"page"}, 2, Keep::first},
           {"numbers of CPUs", {"threads"}, 1}}};
}

std::vector<Table> tables() {
  return {
      {.title = "Page faults in GB/s (populated by: {how}; node of the memory: {node})",
       .kind = ViewKind::curve,
       .apart = {"how", "node"},
       .rows = "threads",
       .columns = "pages",
       .cells = {label_column("threads", "threads"),
                 figure_column("", "touch_rate_sum", in_gb_per_s, Part::with_interval)},
       .notes = {"all threads together, each with its own memory; one column per page size"}},
      {.title = "Page faults",
       .cells = {label_column("how", "how"), label_column("pages", "pages"),
                 label_column("page", "page"), label_column("memory", "node"),
                 label_column("threads", "threads"),
                 figure_column("us/page", "fault_time", in_us, Part::value, 3),
                 figure_column(plus_minus(), "fault_time", in_us, Part::half_width),
                 figure_column("faults/page", "faults_per_page", 1, Part::value, 3),
                 figure_column("M faults/s", "faults_sum", in_millions, Part::value, 3),
                 figure_column("GB/s", "touch_rate_sum", in_gb_per_s)},
       .notes = {"us/page: median thread; faults/page: as getrusage counted them, 1 if each page "
                 "took one fault; less if a fault populated several pages, more if huge pages were "
                 "not available"}}};
}

/// One thread with each kind of pages, and what all threads gain with the first.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& kind : groups_of(report, {"pages"})) {
    const Case *one = nullptr, *all = nullptr;
    for (const Case* result : kind.cases) {
      if (label_of(*result, "how") != "touch" || !estimate_of(*result, "touch_rate_sum")) continue;
      const std::string node = label_of(*result, "node");
      if (one != nullptr && node != label_of(*one, "node")) continue;
      if (one == nullptr) one = result;
      all = result;
    }
    if (one == nullptr || one->flows.size() != 1) continue;
    const std::string pages = kind.labels.front().second;
    facts.push_back({"first_touch_rate",
                     {{"pages", pages}, {"threads", "1"}},
                     fmt::format("first touch of memory with {} pages by one thread", pages),
                     "B/s",
                     *estimate_of(*one, "touch_rate_sum"),
                     "Page faults",
                     fmt::format("{} pages {{}}", pages)});
    if (all == one || pages != "base") continue;
    const std::string threads = std::to_string(all->flows.size());
    facts.push_back(
        {"first_touch_threads_times",
         {{"pages", pages}, {"threads", threads}},
         fmt::format("first touch of memory by {} threads against one, {} pages", threads, pages),
         "1",
         ratio_of(*estimate_of(*all, "touch_rate_sum"), *estimate_of(*one, "touch_rate_sum")),
         "Page faults",
         fmt::format("{} threads {{}} as fast", threads)});
  }
  return facts;
}

}  // namespace

Benchmark make() {
  const std::vector<Faulting> hows(all_faultings.begin(), all_faultings.end());
  return {
      .name = "faults",
      .help =
          {.summary = "page-fault cost by page size and number of threads",
           .listing = {Topic::pages, true},
           .description =
               "Threads touch memory of their own for the first time, or have the kernel populate "
               "it, one thread and then more of them at the same time. The kernel finds and clears "
               "each page; where more threads gain little, they wait for its locks. Giving the "
               "pages back is not part of the figures. The faults that getrusage counted are part "
               "of the report. "
               "Without --cpus there is one CPU per core, in the order of the nodes.",
           .examples = {{"All kinds of pages, touched by one thread and by all",
                         "numatlas faults --pages base,thp,2M,1G --how touch"},
                        {"Memory of nodes 0 and 2 in turn, touched and populated",
                         "numatlas faults --nodes 0,2 --threads 1,8"}}},
      .options = {.usual_cpus = "cores",
                  .usual_threads = "1, 2, 4 and so on to all CPUs",
                  .usual_pages = "base",
                  .time = {"10s", true}},
      .runs_together = true,
      .varies = {.size = "memory of each thread, used repeatedly",
                 .usual_size = "64 MiB, or one page if that is larger",
                 .one_size = true},
      .sweeps = {{.point = point,
                  .name = "{how} {pages} {threads}[ node {at}]",
                  .axes = {choice_axis("how", "--how", named(hows), hows,
                                       "how pages are populated: by a write to each (touch), or by "
                                       "madvise(MADV_POPULATE_WRITE)\nmadvise populates 2 MiB, or "
                                       "one page if larger, per call"),
                           node_axis("node", "--nodes", "local", "memory",
                                     "node of the memory: that of each thread (local), each in "
                                     "turn (all), or these (0,2) in turn")},
                  .threads = {.label = true, .usual = counts_of_cpus},
                  .size = {.usual = usual_size_of}}},
      .workers = worker_on_every_core,
      .figures = {.of_flow = flow_figures, .totals = totals},
      .shown =
          {// Its pages are given back and come anew all the time.
           .expected_warnings = {"pages-moved"},
           .tables = tables(),
           .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_faults

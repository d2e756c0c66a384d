// Page faults: what it costs until memory is there, by kind of pages, call, node and number of
// threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/product.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/survey_words.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/room.h"
#include "run/sizes_option.h"

namespace numatlas::benchmark_faults {
namespace {

// Far more than a step, and little of any node.
constexpr Bytes usual_fault_size{64 * mib};

struct Options {
  std::vector<Faulting> hows{all_faultings.begin(), all_faultings.end()};
  std::string nodes_text = "local";
  OneSizeOption size;
};

void add_options(Options& own, CLI::App& app) {
  add_choices(
      app, "--how", own.hows, named(own.hows),
      "how pages are populated: by a write to each (touch), or by madvise(MADV_POPULATE_WRITE)\n"
      "madvise populates 2 MiB, or one page if larger, per call");
  add_value(app, "--nodes", own.nodes_text, "local|all|NODES",
            "node of the memory: that of each thread (local), each in turn (all), or these (0,2) "
            "in turn");
  own.size.add_to(
      app,
      "memory of each thread, used repeatedly (default: 64 MiB)\n"
      "The default is one page if that is larger; less if that is more than half of a node's free "
      "memory");
}

Expected<void> parse(Options& own, Benchmark&) {
  TRY(own.size.parse("faults"));
  return check_nodes("--nodes", own.nodes_text, "local");
}

Expected<void> check(const Options& own, const PlanInput& input) {
  TRY(check_run_together(input, "faults"));
  if (own.nodes_text != "local" && input.options.placement.memory) {
    return fail(ErrorKind::usage, "--nodes and --memory both place the memory",
                "leave one of them out");
  }
  return own.size.given() ? check_page_steps(input, *own.size.given()) : Expected<void>{};
}

PlannedScenario point(const PlanInput& input, Bytes size, PageKind pages, Faulting how,
                      const NodeChoice& place, int threads) {
  const Machine& machine = input.machines.front();
  FaultParameters work;
  work.page = page_bytes(machine, pages);
  work.pool = is_from_pool(pages);
  work.faulting = how;
  PlannedScenario planned = new_point(
      input,
      fmt::format("{} {} {}{}", name_of(how), name_of(pages), count_text(threads, "thread"),
                  place.node ? " node " + place.label : ""),
      whole_steps(size, work), pages);
  planned.optional = true;
  planned.head.labels = {{"how", name_of(how)},
                         {"node", place.label},
                         {"threads", std::to_string(threads)},
                         {"page", compact_text(work.page)}};
  for (int worker = 0; worker < threads; ++worker) {
    Flow flow = plain_flow(input, {work}, worker, planned.head.size, pages);
    if (place.node) flow.region.placement = bound_to(*place.node);
    planned.scenario.flows.push_back(std::move(flow));
  }
  const std::string why = place.node ? memory_node_problem(machine, *place.node) : "";
  if (!why.empty()) planned.skip = Error{ErrorKind::unavailable, why, "choose with --nodes"};
  return planned;
}

Plan plan_of(const Options& own, const PlanInput& input, const std::vector<NodeChoice>& places,
             const std::map<std::string, Bytes>& sizes) {
  Plan plan;
  for_each_of(
      [&](PageKind pages, Faulting how, const NodeChoice& place, int threads) {
        add_point(plan, point(input, sizes.at(place.label), pages, how, place, threads));
      },
      input.pages, own.hows, places, counts_of_cpus(input));
  return plan;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  TRY(check(own, input));
  const auto where = TRY(node_choices(input, "--nodes", own.nodes_text, "local"));
  std::map<std::string, Bytes> sizes;  // of each place by itself
  for (const NodeChoice& place : where) {
    const auto usual = plan_of(own, input, {place}, {{place.label, usual_fault_size}});
    sizes[place.label] = own.size.given().value_or(size_with_room(input, usual_fault_size, usual));
  }
  return plan_of(own, input, where, sizes);
}

std::vector<Figure> flow_figures(const FlowResult& flow, const ScenarioResult& visit) {
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

std::vector<Figure> totals(const ScenarioResult& visit, const RunReport&) {
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
  SurveyPart part{1, {}, ""};
  const std::string few = few_counts(machine);
  const std::string all = std::to_string(std::max<std::size_t>(1, machine.usable_cpus().size()));
  const std::string ends = all == "1" ? "1" : "1," + all;
  const auto add = [&](const char* pages, const char* how, const char* nodes,
                       const std::string& threads, const std::string& left_out) {
    part.ways.push_back(SurveyWay{{"--pages", pages, "--how", how, "--nodes", nodes, "--threads",
                                   threads, "--skip-too-large"},
                                  left_out});
  };
  const bool several = machine.ordinary_memory_nodes().size() > 1;
  if (several) add("base,thp,2M,1G", "touch,madvise", "all", ends, "");
  const std::string nodes = several ? "nodes other than each thread's own" : "";
  add("base,thp,2M,1G", "touch,madvise", "local", ends, nodes);
  // Of a large machine: between one CPU and all is where the rate stops rising.
  add("base,thp", "touch", "local", few,
      fmt::format("huge page pools, madvise(MADV_POPULATE_WRITE){}{}", several ? ", " : "", nodes));
  return part;
}

std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"how", "node"})) {
    const std::string node = label_of(*group.cases.front(), "node"),
                      how = label_of(*group.cases.front(), "how");
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    view.title = fmt::format("Page faults by {}, memory {}, in GB/s",
                             how == "touch" ? "a write to each page" : how,
                             node == "local" ? "of each thread's node" : "of node " + node);
    view.notes = {"all threads together, each with its own memory; one column per page size"};
    view.rows = "threads";
    view.columns = "pages";
    view.cells = {label_column("threads", "threads"),
                  figure_column("", "touch_rate_sum", in_gb_per_s, Part::with_interval)};
    views.push_back(std::move(view));
  }
  View view;
  view.title = "Page faults";
  view.notes = {
      "us/page: median thread; faults/page: as getrusage counted them, 1 if each page took one "
      "fault; less if a fault populated several pages, more if huge pages were not available"};
  view.cells = {label_column("how", "how"),
                label_column("pages", "pages"),
                label_column("page", "page"),
                label_column("memory", "node"),
                label_column("threads", "threads"),
                figure_column("us/page", "fault_time", in_us, Part::value, 3),
                figure_column(plus_minus(), "fault_time", in_us, Part::half_width),
                figure_column("faults/page", "faults_per_page", 1, Part::value, 3),
                figure_column("M faults/s", "faults_sum", in_millions, Part::value, 3),
                figure_column("GB/s", "touch_rate_sum", in_gb_per_s)};
  views.push_back(std::move(view));
  return views;
}

/// One thread with each kind of pages, and what all threads gain with the first.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& kind : groups_of(report, {"pages"})) {
    const ScenarioResult *one = nullptr, *all = nullptr;
    for (const ScenarioResult* point : kind.cases) {
      if (label_of(*point, "how") != "touch" || !estimate_of(*point, "touch_rate_sum")) continue;
      const std::string node = label_of(*point, "node");
      if (one != nullptr && node != label_of(*one, "node")) continue;
      if (one == nullptr) one = point;
      all = point;
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
  const Bound<Options> with;
  return {
      .name = "faults",
      .summary = "page-fault cost by page size and number of threads",
      .listing = {Topic::pages, true},
      .description =
          "Threads touch memory of their own for the first time, or have the kernel populate it, "
          "one thread and then more of them at the same time. The kernel finds and clears each "
          "page; its locks show where more threads gain little. Giving the pages back is not part "
          "of the figures. The faults that getrusage counted are part of the report. Without "
          "--cpus there is one CPU per core, in the order of the nodes.",
      .examples = {{"All kinds of pages, touched by one thread and by all",
                    "numatlas faults --pages base,thp,2M,1G --how touch"},
                   {"Memory of nodes 0 and 2 in turn, touched and populated",
                    "numatlas faults --nodes 0,2 --threads 1,8"}},
      .refused_options = {"--serial"},
      .usual_cpus = "cores",
      .usual_threads = "1, 2, 4 and so on to all CPUs",
      .usual_pages = "base",
      .time = {"10s", true},
      // Its pages are given back and come anew all the time.
      .expected_warnings = {"pages-moved"},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_every_core,
      .plan = with(plan),
      .flow_figures = flow_figures,
      .totals = totals,
      .views = views,
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_faults

// Atomic operations: what an addition costs when one CPU, a few or all add to the same counter, to
// neighbouring words, or each to its own lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/text.h"
#include "benchmarks/atomics/on_gpus.h"
#include "benchmarks/extremes.h"
#include "benchmarks/on_gpus.h"
#include "kernels/traits.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_atomics {
namespace {

struct Options {
  std::vector<std::string> operations{"fetch-add", "compare-exchange"};
  std::vector<Sharing> sharings{all_sharings.begin(), all_sharings.end()};
  std::string home = "first";
  on_gpus::OnOption on = {};
  const CLI::Option* operation = nullptr;  ///< the app's
};

void add_options(Options& own, CLI::App& app) {
  own.on.add_to(app);
  own.operation = add_choices(
      app, "--operation", own.operations, named(own.operations),
      "how a CPU adds: by an atomic addition, or by a compare-and-swap that is retried until "
      "it succeeds");
  add_choices(app, "--sharing", own.sharings, named(own.sharings),
              "what the CPUs add to: one counter, words in the same cache lines, or words in lines "
              "of their own");
  add_value(
      app, "--home", own.home, "first|all|NODES",
      "node of the counters: that of the first CPU, each in turn (all), or these (0,2) in turn");
}

std::vector<Figure> flow_figures(const FlowResult& flow, const ScenarioResult&) {
  const auto rate = mean_rate(flow, "operation_time");
  if (!rate) return {};
  return {{"operations", "1/s", *rate, std::nullopt}};
}

std::vector<Figure> totals(const ScenarioResult& visit, const RunReport&) {
  const auto sum = sum_over_flows(visit, "operations", "operations_sum");
  return sum ? std::vector<Figure>{*sum} : std::vector<Figure>{};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  TRY(check_nodes("--home", own.home, "first"));
  TRY(own.on.parse());
  if (!own.on.on_gpus()) return {};
  TRY(own.on.refuse("counters of CPUs", {{"--home", own.home != "first"}}));
  if (own.operation->count() > 0 && own.operations != std::vector<std::string>{"fetch-add"})
    return fail_usage("--operation", "GPUs add by fetch-add", "leave out either it or --on");
  const GpuCounters counters{own.on.gpus(), own.sharings};
  own.on.prepare(benchmark, 1);
  benchmark.plan = [counters](const PlanInput& input) { return plan_on_gpus(counters, input); };
  benchmark.flow_figures = flow_figures;
  benchmark.totals = totals;
  benchmark.views = views_on_gpus;
  benchmark.facts = facts_on_gpus;
  return {};
}

Expected<void> check(const Options& own, const PlanInput& input) {
  TRY(check_run_together(input, "atomics"));
  if (own.home != "first" && input.options.placement.memory) {
    return fail(ErrorKind::usage, "--home and --memory both place the counters",
                "leave one of them out");
  }
  return {};
}

PlannedScenario point(const PlanInput& input, const std::string& operation, Sharing sharing,
                      const NodeChoice& home, int cpus) {
  const Machine& machine = input.machines.front();
  const PageKind pages = input.pages.front();
  const std::uint64_t page = page_bytes(machine, pages).value;
  const auto count = static_cast<std::uint64_t>(cpus);
  PlannedScenario planned =
      new_point(input,
                fmt::format("{} {} {}{}", operation, name_of(sharing), count_text(cpus, "CPU"),
                            home.node ? " node " + home.label : ""),
                Bytes{(counter_bytes(count).value + page - 1) / page * page}, pages);
  planned.head.labels = {
      {"sharing", name_of(sharing)}, {"threads", std::to_string(cpus)}, {"home", home.label}};
  for (int worker = 0; worker < cpus; ++worker) {
    KernelSpec kernel = kernel_named(operation);
    auto& counter = kernel.as<CounterParameters>();
    counter.sharing = sharing;
    counter.worker = static_cast<std::uint64_t>(worker);
    counter.workers = count;
    Flow flow = plain_flow(input, std::move(kernel), worker, planned.head.size, pages);
    flow.region.placement = home.node ? bound_to(*home.node) : worker_of(input, 0).placement.memory;
    if (worker > 0) flow.shares = 0;
    planned.scenario.flows.push_back(std::move(flow));
  }
  if (!home.node) return planned;
  if (const auto why = memory_node_problem(machine, *home.node); !why.empty())
    planned.skip = Error{ErrorKind::unavailable, why, "choose nodes with --home"};
  return planned;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  TRY(check(own, input));
  const auto places = TRY(node_choices(input, "--home", own.home, "first"));
  Plan plan;
  for_each_of([&](const std::string& operation, const NodeChoice& home, Sharing sharing,
                  int cpus) { add_point(plan, point(input, operation, sharing, home, cpus)); },
              own.operations, places, own.sharings, counts_of_cpus(input));
  return plan;
}

SurveyPart survey(const Machine& machine) {
  SurveyPart part{0.5, {}, ""};
  if (machine.ordinary_memory_nodes().size() > 1)
    part.ways.push_back(SurveyWay{{"--home", "all"}, ""});
  const char* const nodes = part.ways.empty() ? "" : "counters on nodes other than the first CPU's";
  part.ways.push_back(SurveyWay{{}, nodes});
  const std::string left_out = part.ways.size() > 1 ? fmt::format(", {}", nodes) : "";
  part.ways.push_back(
      SurveyWay{{"--operation", "fetch-add"}, "atomic operations other than fetch-add" + left_out});
  return part;
}

std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"kernel", "home"})) {
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    const std::string home = label_of(*group.cases.front(), "home");
    const std::string where =
        home == "first" ? "on the first CPU's node" : fmt::format("on node {}", home);
    view.title = fmt::format("Atomic operations by {}, counters {}: millions per second",
                             group.cases.front()->kernel, where);
    view.notes = {
        "all CPUs together; same: one counter; neighbours: words of the same lines (false "
        "sharing); own: lines of their own"};
    view.rows = "threads";
    view.columns = "sharing";
    view.cells = {label_column("CPUs", "threads"),
                  figure_column("", "operations_sum", in_millions, Part::with_interval)};
    views.push_back(view);
    view.title = fmt::format("Time per operation by {}, counters {}, in ns",
                             group.cases.front()->kernel, where);
    view.notes = {
        "median CPU (lowest-highest): where these differ, some CPUs get the line more often"};
    view.cells = {label_column("CPUs", "threads"),
                  figure_column("", "operation_time", in_ns, Part::spread)};
    views.push_back(view);
    if (!traits_of(group.cases.front()->kernel).retries) continue;
    view.title = fmt::format("Attempts per addition by compare-exchange, counters {}", where);
    view.notes = {"1: succeeded at the first attempt"};
    view.cells = {label_column("CPUs", "threads"), figure_column("", "attempts", 1)};
    views.push_back(std::move(view));
  }
  return views;
}

/// One CPU alone; all of them on one counter; what false sharing costs them.
std::vector<Fact> facts(const RunReport& report) {
  const auto cpus_of = [](Sharing sharing) {
    return [sharing](const ScenarioResult& one) {
      const bool counts = !traits_of(one.kernel).retries &&
                          label_of(one, "sharing") == name_of(sharing) &&
                          estimate_of(one, "operations_sum");
      return counts ? std::optional(static_cast<double>(one.flows.size())) : std::nullopt;
    };
  };
  std::vector<Fact> facts;
  const auto* const alone = lowest_of(report.scenarios, cpus_of(Sharing::same));
  const auto* const same = highest_of(report.scenarios, cpus_of(Sharing::same));
  if (alone != nullptr && alone->flows.size() == 1) {
    facts.push_back({"atomic_add_alone",
                     {{"cpus", "1"}},
                     "fetch-add by one CPU alone",
                     "s",
                     *estimate_of(*alone, "operation_time"),
                     "Atomics",
                     "one CPU {} per addition"});
  }
  if (same == nullptr || same->flows.size() < 2) return facts;
  const std::string cpus = std::to_string(same->flows.size());
  facts.push_back({"atomic_add_contended",
                   {{"cpus", cpus}},
                   fmt::format("fetch-add by {} CPUs to one counter, together", cpus),
                   "1/s",
                   *estimate_of(*same, "operations_sum"),
                   "Atomics",
                   fmt::format("{} CPUs on one counter {{}} together", cpus)});
  const auto* const near = highest_of(report.scenarios, cpus_of(Sharing::neighbours));
  const auto* const own = highest_of(report.scenarios, cpus_of(Sharing::own));
  if (near == nullptr || own == nullptr || near->flows.size() != own->flows.size()) return facts;
  const std::string sharers = std::to_string(near->flows.size());
  facts.push_back(
      {"false_sharing_times",
       {{"cpus", sharers}},
       fmt::format("an addition by {} CPUs to neighbouring words, against lines of their own",
                   sharers),
       "1",
       ratio_of(*estimate_of(*own, "operations_sum"), *estimate_of(*near, "operations_sum")),
       "Atomics",
       fmt::format("false sharing slows {} CPUs {{}}", sharers)});
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "atomics",
      .summary = "atomic operations per second by number of CPUs",
      .listing = {Topic::caches},
      .description =
          "One CPU, then more of them add to counters in memory at the same time: to one counter "
          "(same), to words of their own in the same cache lines (neighbours: false sharing), or "
          "to words in lines of their own (own). The counters' final values are compared with the "
          "number of additions. Without --cpus there is one CPU per core, in the order of the "
          "nodes.",
      .examples = {{"Fetch-add by 1, 2, 4, ... and all cores, contended and uncontended",
                    "numatlas atomics --operation fetch-add"},
                   {"One counter for eight CPUs, with its cache line on each node in turn",
                    "numatlas atomics --sharing same --threads 8 --home all"}},
      .refused_options = {"--serial"},
      .usual_cpus = "cores",
      .usual_threads = "1, 2, 4 and so on to all CPUs",
      .one_kind_of_pages = true,
      .time = {"10s", true},
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

}  // namespace numatlas::benchmark_atomics

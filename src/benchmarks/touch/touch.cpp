// First touch: memory lies on the node of the CPU that touches it first. What it costs a worker to
// use memory that another touched, alone and while the others do the same.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/units.h"
#include "benchmarks/survey_words.h"
#include "kernels/kernel.h"
#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/sizes_option.h"

namespace numatlas::benchmark_touch {
namespace {

struct Options {
  SizesOption sizes{chase_past_caches_words};
  std::vector<std::string> patterns{"own", "other", "crossed"}, kernels{"scatter"};
};

void add_options(Options& own, CLI::App& app) {
  add_choices(app, "--pattern", own.patterns, named({"own", "other", "crossed"}),
              "which worker first touches a worker's memory: itself (own), worker 0 (other), or "
              "the next one (crossed)\nCosts are relative to own");
  add_choices(
      app, "--kernel", own.kernels,
      named({"scatter", "update", "chase", "read", "write", "copy", "triad"}),
      "access pattern: scatter updates a word per line, far from the last; update every word\n"
      "scatter advances about 57 lines each time, wrapping around, so that prefetchers hide little "
      "of it and updates do not wait for each other; update goes line by line; the others are "
      "those of `numatlas latency` and `numatlas bandwidth`");
  own.sizes.add_to(app, "memory of each worker");
}

Expected<void> parse(Options& own, Benchmark&) { return own.sizes.parse(); }

constexpr double touch_line = 64;  // bytes; as the kernels count lines

/// Seconds for a line, from the flow's first figure.
std::optional<Estimate> seconds_per_line(const FlowResult& flow) {
  if (const Figure* latency = find_figure(flow, "latency")) return latency->estimate;
  const Figure* const bandwidth = find_figure(flow, "bandwidth");
  if (bandwidth == nullptr || !(bandwidth->value().value_or(0) > 0)) return std::nullopt;
  const auto bytes = static_cast<double>(traffic_per_step(kernel_named(flow.kernel)).counted());
  // An update reads and writes the same line; the others' bytes are each of a line of their own.
  const bool in_place = traits_of(flow.kernel).in_place;
  return divided_into(in_place ? bytes : touch_line, *bandwidth->estimate);
}

/// The worker that touches first what `worker` of `workers` then uses: itself ("own"), worker 0
/// ("other"), or the next one ("crossed").
int toucher_of(const std::string& pattern, int worker, int workers) {
  if (pattern == "other") return 0;
  return pattern == "crossed" ? (worker + 1) % workers : worker;
}

/// Whether a ratio differs from 1 by more than its interval.
bool is_told(const Estimate& ratio) {
  return ratio.low && ratio.high && (*ratio.low > 1 || *ratio.high < 1);
}

/// The same worker with memory that it touched first itself, in the same run (alone, or together)
/// of the same kernel and size; null where that was not measured.
const FlowResult* own_of(const RunReport& report, const ScenarioResult& point,
                         const FlowResult& flow) {
  for (const ScenarioResult& other : report.scenarios) {
    if (label_of(other, "pattern") != "own" || label_of(other, "run") != label_of(point, "run") ||
        other.kernel != point.kernel || other.size != point.size || other.pages != point.pages)
      continue;
    for (const FlowResult& its : other.flows)
      if (its.worker == flow.worker && seconds_per_line(its)) return &its;
  }
  return nullptr;
}

/// How many times as long an access of `flow` at `point` takes as one of own_of.
std::optional<Estimate> against_own(const RunReport& report, const ScenarioResult& point,
                                    const FlowResult& flow) {
  const auto mine = seconds_per_line(flow);
  const FlowResult* const own = own_of(report, point, flow);
  if (!mine || own == nullptr) return std::nullopt;
  return ratio_of(*mine, *seconds_per_line(*own));
}

/// "access_time" and "pass_time" in s: for a line of 64 bytes, read, written, or both; and for as
/// many as the size holds. Nothing where nothing was measured.
std::vector<Figure> flow_figures(const FlowResult& flow, const ScenarioResult& point) {
  const auto access = seconds_per_line(flow);
  if (!access) return {};
  const double lines = static_cast<double>(point.size.value) / touch_line;
  return {{"access_time", "s", *access, std::nullopt},
          {"pass_time", "s", scaled(*access, lines), std::nullopt}};
}

/// CPUs of the nodes in turn, and as many as there are main nodes.
PlacementSpec placement(const RunOptions& options, const Machine& machine) {
  PlacementSpec spec = options.placement;
  const auto cpus = resolve_cpus(spec.cpus, machine, TaskContext{});
  if (!cpus) return spec;
  std::size_t wanted = cpus->size();
  if (spec.cpus.is_default) {
    std::map<int, int> seen;
    std::vector<std::pair<int, int>> ranked;  // how many of its node come before it; itself
    for (CpuId id : *cpus) {
      const Cpu* const cpu = machine.find_cpu(id);
      ranked.emplace_back(seen[cpu == nullptr ? -1 : cpu->node.value]++, id.value);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<int> list;
    for (const auto& [before, id] : ranked) list.push_back(id);
    CpuSet all;
    for (CpuId id : *cpus) all.insert(id);
    const std::size_t main = machine.main_nodes(machine.nodes_of(all)).size();
    wanted = std::min(list.size(), std::max<std::size_t>(2, main));
    spec.cpus = {CpuSpec::Form::list, {list}, false};
  }
  if (!spec.threads) spec.threads = static_cast<int>(wanted);
  return spec;
}

Expected<Workers> workers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  return resolve_placement(placement(options, machine), machine, task, 0);
}

constexpr const char* on_one_node = "all CPUs are on one node, so first touch makes no difference";

/// Error (unavailable): nobody chose the CPUs, and all of them are on one node.
Expected<void> check_nodes_differ(const PlanInput& input) {
  const PlacementSpec& asked = input.options.placement;
  if (!asked.cpus.is_default || asked.threads || worker_nodes(input).size() != 1) return {};
  return fail_about(ErrorKind::unavailable, "touch", on_one_node,
                    "it requires a machine with several NUMA nodes; --cpus names CPUs to measure "
                    "in any case");
}

Expected<void> check(const PlanInput& input) {
  TRY(check_one_process(input, "touch"));
  TRY(check_one_number_of_threads(input.options, "touch"));
  TRY(distinct_cpus(input, "touch"));
  return {};
}

Flow touched_flow(const PlanInput& input, const ScenarioResult& point, int worker, PageKind pages) {
  const auto workers = static_cast<int>(input.layout.workers.size());
  const int toucher = toucher_of(label_of(point, "pattern"), worker, workers);
  Flow flow = access_flow(input, point.kernel, worker, point.size, pages);
  if (toucher != worker) flow.first_touch = toucher;
  return flow;
}

/// Each worker alone, and all together.
void add_pattern(Plan& plan, const PlanInput& input, const PlannedScenario& pattern,
                 PageKind pages) {
  const std::vector<int> all = all_workers(input.layout);
  const auto add = [&](const std::string& run, const std::vector<int>& who) {
    PlannedScenario planned = pattern;
    planned.head.labels.emplace_back("run", run);
    planned.head.name += " " + run;
    if (who.size() == 1 && all.size() > 1) planned.head.name += fmt::format(" worker {}", who[0]);
    for (int worker : who)
      planned.scenario.flows.push_back(touched_flow(input, planned.head, worker, pages));
    add_point(plan, std::move(planned));
  };
  for (int worker : all) add("alone", {worker});
  if (all.size() > 1 && !input.options.serial) add("together", all);
}

Plan plan_of(const Options& own, const PlanInput& input, const std::vector<Bytes>& sizes) {
  Plan plan;
  const auto add = [&](PageKind pages, Bytes size, const std::string& kernel,
                       const std::string& pattern) {
    PlannedScenario planned = new_point(
        input, fmt::format("{} {} {} {}", pattern, kernel, compact_text(size), name_of(pages)),
        size, pages);
    planned.head.kernel = kernel;
    if (traits_of(kernel).chases()) {
      planned.head.order = name_of(ChainSpec{}.order);
      planned.head.stride = ChainSpec{}.stride;
    }
    planned.head.labels = {{"pattern", pattern}};
    if (input.layout.workers.size() > 1 || pattern == "own")
      return add_pattern(plan, input, planned, pages);
    planned.skip =
        Error{ErrorKind::unavailable,
              "there is only one worker, so no other can touch its memory first (--cpus)", ""};
    add_point(plan, std::move(planned));
  };
  for_each_of(add, input.pages, sizes, own.kernels, own.patterns);
  return plan;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  TRY(check(input));
  const auto with = [&](const std::vector<Bytes>& sizes) { return plan_of(own, input, sizes); };
  const std::vector<Bytes> sizes = own.sizes.sizes(input, chase_size_past_caches(input), with);
  for (const std::string& kernel : own.kernels) {
    for (Bytes size : sizes) {
      TRY(check_size(kernel_named(kernel), size));
    }
  }
  TRY(check_nodes_differ(input));
  return with(sizes);
}

/// What memory that another worker touched first costs, against one's own.
void conclude(RunReport& report) {
  for (ScenarioResult& point : report.scenarios) {
    if (label_of(point, "pattern") == "own") continue;
    for (FlowResult& flow : point.flows) {
      if (const auto times = against_own(report, point, flow))
        flow.figures.push_back({"times_as_long_as_own", "1", *times, std::nullopt});
    }
  }
}

std::string remarks(const RunReport& report, const RunOptions& options) {
  std::string text;
  const auto& asked = options.placement.memory;
  const bool by_option =
      asked &&
      (asked->form != MemorySpec::Form::single || !asked->single.source.empty() ||
       (asked->single.mode != MemoryMode::local && asked->single.mode != MemoryMode::inherit));
  // Unasked, it is inherited only where there is a policy.
  const bool by_policy = !asked && report.workers.front().memory.starts_with("inherit");
  if (by_option || by_policy) {
    text += fmt::format(
        "warning: {} determines where the memory lies, so the first touch does not; use --memory "
        "local to let the first touch decide\n",
        by_option ? "--memory" : "the inherited memory policy (numactl or the launcher)");
  }
  return text;
}

SurveyPart survey(const Machine& machine) {
  const NodeSet nodes = machine.nodes_of(machine.usable_cpus());
  if (nodes.size() < 2) {
    return {0, {}, on_one_node};
  }
  constexpr Bytes least{64 * mib};  // each point has its memory made anew
  const std::string size =
      compact_text(std::max(least, first_cpu_of_each_node(machine, least).past_caches));
  SurveyPart part{1, {SurveyWay{{"--size", size, "--skip-too-large"}, ""}}, ""};
  if (nodes.size() == 2) return part;
  const auto first_cpu = [&](NodeId node) {
    return (machine.own_cpus(node) & machine.usable_cpus()).front().value;
  };
  const NodeSet main = machine.main_nodes(nodes);
  const NodeId from = main.front(), to = main[main.size() - 1];
  if (from == to) return part;
  part.ways.push_back(
      SurveyWay{{"--size", size, "--skip-too-large", "--cpus",
                 fmt::format("{},{}", first_cpu(from), first_cpu(to))},
                fmt::format("CPUs of nodes other than {} and {}", from.value, to.value)});
  return part;
}

std::string cpu_words(const RunReport& report, int index) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(index)];
  return fmt::format("CPU {} (node {})", to_list(worker.cpus),
                     worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value));
}

/// One table for each kernel, size and page kind, with one row per worker and point.
std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"kernel", "size", "pages"})) {
    const ScenarioResult& any = *group.cases.front();
    View view;
    view.level = ViewLevel::flows;
    view.where = group.labels;
    view.title = fmt::format(
        "Memory used by a worker and first touched by the same or another ({}, {}, pages {})",
        any.kernel, to_text(any.size), any.pages);
    view.notes = {"access: one line of 64 bytes, read, written or both; a pass: all lines",
                  "run: alone, the others sleep; together, all at the same time",
                  "times own: how many times as long as to memory that the worker touched itself"};
    view.cells = {label_column("pattern", "pattern"),
                  label_column("run", "run"),
                  label_column("worker", "worker"),
                  label_column("CPU", "cpu"),
                  label_column("node", "cpu_node"),
                  label_column("touched by", "first_touch"),
                  label_column("pages on", "memory_node"),
                  figure_column("ms/pass", "pass_time", 1e3, Part::value, 3),
                  figure_column("ns/access", "access_time", in_ns),
                  figure_column("GB/s", "bandwidth", in_gb_per_s),
                  figure_column(plus_minus(), "access_time", in_ns, Part::half_width),
                  figure_column("times own", "times_as_long_as_own", 1, Part::with_interval, 2)};
    views.push_back(std::move(view));
  }
  return views;
}

/// The worst of those that ran alone, and what an access to its own memory takes.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> worst;
  for (const ScenarioResult& point : report.scenarios) {
    if (label_of(point, "pattern") == "own" || label_of(point, "run") != "alone") continue;
    for (const FlowResult& flow : point.flows) {
      const auto times = against_own(report, point, flow);
      if (!times || !flow.first_touch) continue;
      if (!worst.empty() && times->value <= worst.front().estimate.value) continue;
      const Figure* const own = find_figure(own_of(report, point, flow)->figures, "access_time");
      const std::string user = cpu_words(report, flow.worker);
      const std::string toucher = cpu_words(report, *flow.first_touch);
      const std::string cache = cache_text(point).empty() ? "" : " in " + cache_text(point);
      worst = {
          {"first_touch_times",
           {{"used_by", user}, {"touched_by", toucher}},
           fmt::format("an access by {} to memory first touched by {}, relative to memory that "
                       "it touched itself",
                       user, toucher),
           "1",
           *times,
           "First touch",
           fmt::format("memory touched by another at worst {{}} as slow ({}used by "
                       "{}, touched by {})",
                       is_told(*times) ? "" : "no significant difference; ", user, toucher)}};
      if (own == nullptr || !own->estimate) continue;
      worst.push_back({"first_touch_own",
                       {{"used_by", user}},
                       fmt::format("an access by {} to memory that it touched itself", user),
                       own->unit,
                       *own->estimate,
                       "First touch",
                       fmt::format("own memory{} {{}} per access", cache)});
    }
  }
  return worst;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "touch",
      .summary = "cost of memory first touched by another CPU",
      .listing = {Topic::memory, true},
      .description =
          "The kernel places a page on the node of the CPU that first touches it. Workers use "
          "memory first touched by themselves (own), by worker 0 (other) and by the next worker "
          "(crossed), each alone and then all together; each has its own region. Without --cpus, "
          "one CPU of each NUMA node runs a worker; where all CPUs are on one node, nothing is "
          "measured.",
      .examples = {{"All patterns, on all nodes", "numatlas touch"},
                   {"A CPU of each of two nodes, and plain reads as well",
                    "numatlas touch --cpus 0,32 --kernel scatter,read"}},
      .usual_cpus = "one per node",
      .is_of_memory = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = workers,
      .plan = with(plan),
      .flow_figures = flow_figures,
      .conclude = conclude,
      .views = views,
      .facts = facts,
      .remarks = remarks,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_touch

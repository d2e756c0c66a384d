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

#include "base/size_list.h"
#include "benchmarks/axes.h"
#include "benchmarks/sizes_option.h"
#include "benchmarks/survey_words.h"
#include "benchmarks/touch/patterns.h"
#include "kernels/traits.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas::touch_benchmark {
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

Workers workers(const RunOptions& options, const Machine& machine, const TaskContext& task) {
  return resolve_placement(placement(options, machine), machine, task, 0);
}

Expected<void> check(const PlanInput& input) {
  TRY(check_one_process(input, "touch"));
  TRY(check_one_number_of_threads(input.options, "touch"));
  TRY(check_no_csv(input.options, "patterns"));
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
void add_pattern(std::vector<PlannedScenario>& plan, const PlanInput& input,
                 const PlannedScenario& pattern, PageKind pages) {
  const std::vector<int> all = all_workers(input.layout);
  const auto add = [&](const std::string& run, const std::vector<int>& who) {
    PlannedScenario planned = pattern;
    planned.head.labels.emplace_back("run", run);
    planned.head.name += " " + run;
    if (who.size() == 1 && all.size() > 1) planned.head.name += fmt::format(" worker {}", who[0]);
    planned.scenario.stop.to_the_end = who.size() > 1;
    for (int worker : who)
      planned.scenario.flows.push_back(touched_flow(input, planned.head, worker, pages));
    add_point(plan, std::move(planned));
  };
  for (int worker : all) add("alone", {worker});
  if (all.size() > 1 && !input.options.serial) add("together", all);
}

std::vector<PlannedScenario> plan_of(const Options& own, const PlanInput& input,
                                     const std::vector<Bytes>& sizes) {
  std::vector<PlannedScenario> plan;
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

Expected<std::vector<PlannedScenario>> plan(const Options& own, const PlanInput& input) {
  TRY(check(input));
  const auto with = [&](const std::vector<Bytes>& sizes) { return plan_of(own, input, sizes); };
  const std::vector<Bytes> sizes = own.sizes.sizes(input, chase_size_past_caches(input), with);
  for (const std::string& kernel : own.kernels) {
    KernelSpec spec;
    spec.name = kernel;
    for (Bytes size : sizes) {
      TRY((*make_kernel(spec))->check_size(size));
    }
  }
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
    return {0, {}, "all CPUs are on one node, so first touch makes no difference", true};
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

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "touch",
      .summary = "cost of memory first touched by another CPU",
      .listing = {Topic::memory, true},
      .description =
          "The kernel places a page on the node of the CPU that first touches it. Workers use "
          "memory "
          "first touched by themselves (own), by worker 0 (other) and by the next worker "
          "(crossed), "
          "each alone and then all together; each has its own region. Without --cpus, one CPU of "
          "each NUMA node runs a worker, or two CPUs on a machine with one node.",
      .examples = {{"All patterns, on all nodes", "numatlas touch"},
                   {"A CPU of each of two nodes, and plain reads as well",
                    "numatlas touch --cpus 0,32 --kernel scatter,read"}},
      .refused_options = {"--csv"},
      .usual_cpus = "one per node",
      .usual_pages = "base",
      .is_of_memory = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = workers,
      .plan = with(plan),
      .flow_figures = access_figures,
      .conclude = conclude,
      .views = touch_views,
      .facts = touch_facts,
      .remarks = remarks,
      .survey = survey,
  };
}

}  // namespace numatlas::touch_benchmark

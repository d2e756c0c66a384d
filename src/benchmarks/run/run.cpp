// The flows that a file names: what runs together is the user's choice.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "kernels/stream_loops.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/file_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_run {
namespace {

struct Options {
  std::string path, isa;
  ScenarioFile file;
};

void add_options(Options& own, CLI::App& app) {
  add_value(app, "FILE", own.path, "", "scenario file in TOML, or - for standard input")
      ->required();
  add_isa_option(app, own.isa);
}

Expected<void> parse(Options& own, Benchmark&) {
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  own.file = TRY(read_scenarios(own.path));
  return {};
}

/// What the file says, or what has no meaning for flows that differ.
Expected<void> check_options_of_run(const RunOptions& options, const std::string& path) {
  const std::string of_file = fmt::format("the CPUs are those named in {}", path);
  if (!options.placement.cpus.is_default) return fail_usage("--cpus", of_file, "change them there");
  if (options.placement.threads) return fail_usage("--threads", of_file, "change them there");
  if (options.serial) {
    return fail_usage("--serial", fmt::format("{} determines what runs together", path),
                      "write a scenario for each flow");
  }
  return {};
}

/// What a worker's memory is called: that of the first flow on its CPU, where none is left to what
/// `otherwise` says.
Expected<MemoryPlacement> worker_memory(const ScenarioFile& file, CpuId cpu,
                                        const MemoryPlacement& otherwise, const Machine& machine) {
  const FlowEntry* first = nullptr;
  std::size_t index = 0;
  for (const FileScenario& scenario : file.scenarios) {
    for (const FlowEntry& flow : scenario.flows) {
      const auto found = std::find(flow.cpus.begin(), flow.cpus.end(), cpu);
      if (found == flow.cpus.end() || flow.has("shares")) continue;
      if (!flow.has("memory")) return otherwise;
      if (first != nullptr) continue;
      first = &flow;
      index = static_cast<std::size_t>(found - flow.cpus.begin());
    }
  }
  return first == nullptr ? otherwise
                          : memory_of(*first, "memory", index, otherwise, machine, {cpu});
}

/// A CPU that this process may not use, told with the first place that names it.
Expected<void> check_cpu(const ScenarioFile& file, CpuId cpu, const Machine& machine,
                         const TaskContext& task) {
  CpuSpec alone;
  alone.form = CpuSpec::Form::list;
  alone.lists = {{cpu.value}};
  alone.is_default = false;
  const auto found = resolve_cpus(alone, machine, task);
  if (found) return {};
  Error error = found.error();
  error.hint = "name other CPUs, or request this one from the launcher or batch system";
  for (const FileScenario& scenario : file.scenarios) {
    for (const FlowEntry& flow : scenario.flows) {
      const bool runs = std::find(flow.cpus.begin(), flow.cpus.end(), cpu) != flow.cpus.end();
      if (runs)
        return fail(error_at(flow.places, flow.places.of.contains("cpus") ? "cpus" : "cpu", error));
      if (flow.has("first_touch") && flow.first_touch == cpu)
        return fail(error_at(flow.places, "first_touch", error));
    }
  }
  return fail(error_at(file.places, "cpus", error));
}

Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  if (task.size > 1) {
    return fail_usage("run", "one process runs all flows of a file",
                      "start one task, without mpirun or with srun -n 1 -c CPUS");
  }
  TRY(check_options_of_run(options, own.path));
  PlacementSpec spec = options.placement;
  spec.cpus.form = CpuSpec::Form::list;
  spec.cpus.is_default = false;
  spec.cpus.lists.emplace_back();
  for (CpuId cpu : own.file.cpus.empty() ? cpus_named(own.file) : own.file.cpus) {
    TRY(check_cpu(own.file, cpu, machine, task));
    spec.cpus.lists.front().push_back(cpu.value);
  }
  spec.threads = static_cast<int>(spec.cpus.lists.front().size());
  auto workers = resolve_placement(spec, machine, task, 0);
  if (!workers) return fail(workers.error());
  for (WorkerPlacement& worker : *workers) {
    worker.memory = TRY(worker_memory(own.file, *worker.cpu, worker.memory, machine));
  }
  return workers;
}

/// How the report names a scenario whose flows may differ.
ScenarioResult head_of(const Scenario& scenario, const StopRule& usual) {
  ScenarioResult head;
  head.name = scenario.name;
  head.labels = {{"scenario", scenario.name}};
  const auto measured = std::find_if(scenario.flows.begin(), scenario.flows.end(),
                                     [](const Flow& flow) { return flow.role == Role::measured; });
  head.size = measured->region.bytes;
  head.pages = name_of(measured->region.pages);
  std::vector<std::string> kernels;
  for (const Flow& flow : scenario.flows) {
    const std::string kernel = full_name(flow.kernel);
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
      kernels.push_back(kernel);
  }
  head.kernel = fmt::format("{}", fmt::join(kernels, "+"));
  if (traits_of(measured->kernel).chases()) {
    head.order = name_of(measured->kernel.as<ChaseParameters>().order);
    head.stride = stride_of(measured->kernel);
  } else if (traffic_per_step(measured->kernel).written > 0) {
    head.stores = name_of(measured->kernel.stores);
  }
  if (scenario.stop.time != usual.time)
    head.time_cap = std::chrono::duration<double>(scenario.stop.time).count();
  return head;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  Plan plan;
  for (const FileScenario& file : own.file.scenarios) {
    auto scenario = TRY(scenario_of(file, input));
    PlannedScenario planned;
    planned.head = head_of(scenario, input.options.stop);
    if (file.precision != input.options.precision) planned.head.precision = file.precision;
    planned.scenario = std::move(scenario);
    add_point(plan, std::move(planned));
  }
  return plan;
}

std::vector<View> views(const RunReport& report) {
  const ViewColumn scenario = label_column("scenario", "name"), cpu = label_column("CPU", "cpu");
  View flows;
  flows.level = ViewLevel::flows;
  flows.title = fmt::format("Concurrent flows of each scenario (kernels: {})", report.isa);
  flows.notes = {"latencies in ns, rates in GB/s as STREAM counts bytes; at most: its rate limit"};
  flows.cells = {scenario,
                 cpu,
                 label_column("node", "cpu_node"),
                 label_column("kernel", "kernel"),
                 label_column("role", "role"),
                 label_column("memory asked", "memory"),
                 label_column("on node", "memory_node"),
                 label_column("size", "size"),
                 label_column("pages", "page_size"),
                 label_column("at most", "rate"),
                 figure_column("latency", "latency", in_ns, Part::with_interval),
                 figure_column("core to core", "core_to_core", in_ns, Part::with_interval),
                 figure_column("bandwidth", "bandwidth", in_gb_per_s, Part::with_interval)};
  View sums;
  sums.title = "Sum of each scenario's flows in GB/s";
  sums.notes = {"bytes moved in their common time, counted as STREAM does"};
  sums.cells = {scenario, figure_column("sum", "bandwidth_sum", in_gb_per_s, Part::with_interval)};
  return {flows, sums};
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "run",
      .summary = "run a custom workload described in TOML",
      .listing = {Topic::memory, true},
      .description =
          "FILE is TOML and lists the flows that run concurrently: CPU, kernel and memory of "
          "each. docs/scenarios.md explains it, and examples/scenarios has files to start from. "
          "Options apply where the file does not say otherwise. The CPUs "
          "are those of the file.",
      .examples = {{"A workload of your own", "numatlas run mine.toml"},
                   {"What it would measure here", "numatlas run mine.toml --dry-run"}},
      .less_memory_hint = "name smaller sizes in FILE",
      .refused_options = {"--cpus", "--threads", "--serial"},
      .usual_pages = "base",
      .one_kind_of_pages = true,
      .time = {"500ms", false, true},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .plan = with(plan),
      .views = views,
  };
}

}  // namespace numatlas::benchmark_run

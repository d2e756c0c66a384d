// The flows that a file names: what runs together is the user's choice.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/units.h"
#include "kernels/stream_loops.h"
#include "record/labels.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/file_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_run {
namespace {

struct Options {
  std::string path, isa;
  std::string text;    ///< of the file
  bool lines = false;  ///< the argument is no file: it has the flows
  ScenarioFile file;   ///< once the machine is known
};

void add_options(Options& own, CLI::App& app) {
  add_value(app, "FILE", own.path, "",
            "scenario file in TOML, - for standard input, or flows in a line, such as "
            "'chase cpu:4 mem:0 + read cpu:8-15 mem:1'")
      ->required();
  add_isa_option(app, own.isa);
}

Expected<void> parse(Options& own, Benchmark&) {
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  // A flow has two words at least.
  std::error_code none;
  own.lines = own.path.find(' ') != own.path.npos && !own.path.ends_with(".toml") &&
              !std::filesystem::exists(own.path, none);
  if (!own.lines) own.text = TRY(read_scenario_text(own.path));
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

Expected<Workers> workers(Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  if (task.size > 1) {
    return fail_usage("run", "one process runs all flows of a file",
                      "start one task, without mpirun or with srun -n 1 -c CPUS");
  }
  TRY(check_options_of_run(options, own.path));
  const std::string name = own.path == "-" ? "standard input" : own.path;
  own.file =
      TRY(own.lines ? parse_flows(own.path, &machine) : parse_scenarios(own.text, name, &machine));
  PlacementSpec spec = options.placement;
  spec.cpus.form = CpuSpec::Form::list;
  spec.cpus.is_default = false;
  spec.cpus.lists.emplace_back();
  for (CpuId cpu : own.file.cpus.empty() ? cpus_named(own.file) : own.file.cpus)
    spec.cpus.lists.front().push_back(cpu.value);
  spec.threads = static_cast<int>(spec.cpus.lists.front().size());
  auto workers = resolve_placement(spec, machine, task, 0);
  if (!workers) return fail(workers.error());
  for (WorkerPlacement& worker : *workers) {
    worker.memory = TRY(worker_memory(own.file, *worker.cpu, worker.memory, machine));
  }
  return workers;
}

/// Labels that every case has: an axis of this name is that of the first flow that is measured.
bool is_of_every_case(const std::string& label) {
  constexpr std::array all{"kernel", "size", "pages", "stores", "order", "stride"};
  return std::ranges::find(all, label) != all.end();
}

/// How the report names a scenario whose flows may differ.
ScenarioResult head_of(const FileScenario& file, const Scenario& scenario, const PlanInput& input) {
  const RunOptions& options = input.options;
  ScenarioResult head;
  head.name = file.name;
  head.labels = {{"scenario", file.title}};
  for (const auto& [axis, value] : file.values)
    if (!is_of_every_case(axis)) head.labels.emplace_back(axis, value);
  if (file.precision != options.precision) head.precision = file.precision;
  std::vector<std::string> kernels;
  for (const Flow& flow : scenario.flows) add_once(kernels, full_name(flow.kernel));
  head.kernel = fmt::format("{}", fmt::join(kernels, "+"));
  const auto measured = std::ranges::find(scenario.flows, Role::measured, &Flow::role);
  if (measured == scenario.flows.end()) {  // it is skipped
    const auto size = std::ranges::find(file.values, "size", &AxisValues::value_type::first);
    if (size != file.values.end()) head.size = parse_bytes(size->second).value_or(Bytes{});
    return head;
  }
  head.flows_text = flows_text(scenario, input.layout);
  head.size = measured->region.bytes;
  head.pages = name_of(measured->region.pages);
  if (traits_of(measured->kernel).chases()) {
    head.order = name_of(measured->kernel.as<ChaseParameters>().order);
    head.stride = stride_of(measured->kernel);
  } else if (traffic_per_step(measured->kernel).written > 0) {
    head.stores = name_of(measured->kernel.stores);
  }
  if (scenario.stop.time != options.stop.time)
    head.time_cap = std::chrono::duration<double>(scenario.stop.time).count();
  return head;
}

/// What a flow alone is a case of.
FileScenario alone() {
  FileScenario file;
  file.title = "alone";
  return file;
}

/// A part of what its CPUs reach alone is known once that is measured.
bool waits(const FileScenario& file) {
  return std::ranges::any_of(file.flows, [](auto& flow) { return flow.rate_part.has_value(); });
}

/// A flow alone, all it can: what parts of its rate are of. `flows`: of the whole scenario.
PlannedScenario alone_of(const FileScenario& whole, const FlowEntry& entry,
                         const Scenario& scenario, std::size_t first, const PlanInput& input) {
  FileScenario file = alone();
  file.precision = whole.precision;
  FlowEntry flow = entry;
  flow.keys.erase("rate");
  flow.keys.erase("role");
  file.name = flow_text(flow) + " alone";
  PlannedScenario planned;
  planned.scenario = scenario;
  planned.scenario.flows.assign(
      scenario.flows.begin() + static_cast<std::ptrdiff_t>(first),
      scenario.flows.begin() + static_cast<std::ptrdiff_t>(first + entry.cpus.size()));
  for (Flow& one : planned.scenario.flows) one.role = Role::measured;
  planned.head = head_of(file, planned.scenario, input);
  return planned;
}

/// Calls f(flow of the file, index of its first flow in the scenario) for those that wait.
void for_each_waiting(const FileScenario& file, const auto& f) {
  std::size_t first = 0;
  for (const FlowEntry& flow : file.flows) {
    if (flow.rate_part) f(flow, first);
    first += flow.cpus.size();
  }
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  Plan plan;
  const auto is_planned = [&](const PlannedScenario& one) {
    return std::ranges::any_of(
        plan, [&](const PlannedScenario& other) { return other.head.name == one.head.name; });
  };
  for (const FileScenario& file : own.file.scenarios) {
    PlannedScenario planned;
    planned.skip = file.skip;
    if (!file.skip) planned.scenario = TRY(scenario_of(file, input));
    for_each_waiting(file, [&](const FlowEntry& flow, std::size_t first) {
      PlannedScenario its = alone_of(file, flow, planned.scenario, first, input);
      if (!is_planned(its)) add_point(plan, std::move(its));
    });
    if (waits(file)) continue;
    planned.head = head_of(file, planned.scenario, input);
    add_point(plan, std::move(planned));
  }
  return plan;
}

/// What a worker reached in this case.
std::optional<double> rate_in(const RunReport& report, const std::string& name, int worker) {
  for (const ScenarioResult& one : report.scenarios)
    for (const FlowResult& flow : one.flows)
      if (const Figure* const rate = find_figure(flow, "bandwidth");
          one.name == name && flow.worker == worker && rate != nullptr)
        return rate->value();
  return std::nullopt;
}

/// The scenarios that waited.
Expected<Plan> refine(const Options& own, const PlanInput& input, const RunReport& report) {
  Plan more;
  for (const FileScenario& file : own.file.scenarios) {
    if (!waits(file) || std::ranges::find(report.scenarios, file.name, &ScenarioResult::name) !=
                            report.scenarios.end())
      continue;
    PlannedScenario planned;
    planned.scenario = TRY(scenario_of(file, input));
    planned.head = head_of(file, planned.scenario, input);
    const Scenario unlimited = planned.scenario;
    for_each_waiting(file, [&](const FlowEntry& entry, std::size_t first) {
      const std::string name = alone_of(file, entry, unlimited, first, input).head.name;
      for (std::size_t i = first; i < first + entry.cpus.size(); ++i) {
        Flow& flow = planned.scenario.flows[i];
        if (const auto rate = rate_in(report, name, flow.worker))
          flow.rate = *rate * *entry.rate_part;
        else
          planned.skip =
              Error{ErrorKind::unavailable,
                    fmt::format("'{}' was not measured, and a rate is a part of it", name),
                    "write the rate as 2GB/s"};
      }
    });
    add_point(more, std::move(planned));
  }
  return more;
}

/// In the order of the file, and what parts are of behind it.
void order_cases(const Options& own, RunReport& report) {
  const auto place = [&](const ScenarioResult& one) {
    return std::ranges::find(own.file.scenarios, one.name, &FileScenario::name) -
           own.file.scenarios.begin();
  };
  std::ranges::stable_sort(report.scenarios, {}, place);
}

struct ShownFigure {
  const char *key, *what, *title;
  double scale;
};
constexpr ShownFigure shown_figures[] = {
    {"latency", "latency", "Latency in ns", in_ns},
    {"core_to_core", "core to core", "Core to core in ns", in_ns},
    {"bandwidth_sum", "bandwidth", "Bandwidth of all flows in GB/s", in_gb_per_s}};

/// Those that its cases have.
std::vector<ShownFigure> figures_in(const RunReport& report, const FileScenario& file) {
  std::vector<ShownFigure> found;
  std::ranges::copy_if(shown_figures, std::back_inserter(found), [&](const ShownFigure& figure) {
    return std::ranges::any_of(report.scenarios, [&](const ScenarioResult& one) {
      return label_of(one, "scenario") == file.title && estimate_of(one, figure.key);
    });
  });
  return found;
}

/// Of a scenario with one axis, or none, a table; of several matrices over the first two.
std::vector<Table> tables_of(const FileScenario& file, const RunReport& report) {
  Table table{.title = "{scenario}: latencies in ns, bandwidth of all flows in GB/s",
              .apart = {"scenario"},
              .only = "scenario=" + file.title,
              .cells = {label_column("case", "name")}};
  const auto last = std::ranges::find_if(
      report.scenarios.rbegin(), report.scenarios.rend(), [&](const ScenarioResult& one) {
        return label_of(one, "scenario") == file.title && !one.flows_text.empty();
      });
  if (last != report.scenarios.rend())
    table.notes.push_back(fmt::format("{}: {}", last->name, last->flows_text));
  std::vector<std::string> axes;
  for (const auto& [axis, value] : file.values) axes.push_back(axis);
  if (axes.size() == 1) {
    table.kind = ViewKind::curve;
    table.rows = axes.front();
    table.cells = {label_column(axes.front(), axes.front())};
  }
  std::vector<Table> matrices;
  for (const ShownFigure& figure : figures_in(report, file)) {
    const auto cell = [&](const char* head) {
      return figure_column(head, figure.key, figure.scale, Part::with_interval);
    };
    table.cells.push_back(cell(figure.what));
    if (axes.size() < 2) continue;
    Table& matrix = matrices.emplace_back(table);
    matrix.title = fmt::format("{}, {{scenario}}: {} by {}", figure.title, axes[0], axes[1]);
    for (std::size_t i = 2; i < axes.size(); ++i) {
      matrix.apart.push_back(axes[i]);
      matrix.title += fmt::format(", {0} {{{0}}}", axes[i]);
    }
    matrix.kind = ViewKind::matrix;
    matrix.rows = axes[0];
    matrix.columns = axes[1];
    matrix.cells = {cell("")};
    if (matrices.size() > 1) matrix.notes.clear();
  }
  return axes.size() < 2 ? std::vector{table} : matrices;
}

/// Each title once, and of which what is measured in parts is.
std::vector<FileScenario> titles_of(const ScenarioFile& file) {
  std::vector<FileScenario> titles;
  const auto add = [&](const FileScenario& one) {
    if (std::ranges::find(titles, one.title, &FileScenario::title) == titles.end())
      titles.push_back(one);
  };
  for (const FileScenario& one : file.scenarios) add(one);
  if (std::ranges::any_of(file.scenarios, waits)) add(alone());
  return titles;
}

std::vector<View> views(const Options& own, const RunReport& report) {
  const auto has_axes = [](const FileScenario& one) { return !one.values.empty(); };
  if (std::ranges::any_of(own.file.scenarios, has_axes)) {
    std::vector<Table> tables;
    for (const FileScenario& file : titles_of(own.file))
      for (Table& table : tables_of(file, report)) tables.push_back(std::move(table));
    return views_of(tables, report);
  }
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
  if (!own.lines) sums.cells.push_back(label_column("flows", "flows_text"));
  return {flows, sums};
}

/// The best and the worst case of each scenario with axes.
std::vector<Fact> facts(const Options& own, const RunReport& report) {
  std::vector<FactRule> rules;
  for (const FileScenario& file : titles_of(own.file)) {
    const auto figures = figures_in(report, file);
    if (file.values.empty() || figures.empty()) continue;
    FactRule rule;
    rule.figure = figures.front().key;
    rule.heading = file.title;
    std::string at;
    for (const auto& [axis, value] : file.values) {
      at += fmt::format("{}{} {{{}}}", at.empty() ? "" : ", ", axis, axis);
      if (!is_of_every_case(axis)) rule.where.push_back(axis);
    }
    rule.words = fmt::format("{} of {{scenario}}, {}", figures.front().what, at);
    rule.line = "{} at " + at;
    rule.only = "scenario=" + file.title;
    rule.extremes = true;
    rules.push_back(std::move(rule));
  }
  return facts_of(rules, report);
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "run",
      .summary = "run a custom workload: flows in a line, or a file in TOML",
      .listing = {Topic::memory, true},
      .description =
          "FILE is TOML and lists the flows that run concurrently: CPU, kernel and memory of "
          "each, and the axes that they vary along; or it is the flows themselves, in a line. "
          "docs/scenarios.md explains both, and examples/scenarios has files to start from. "
          "Options apply where the file does not say otherwise. The CPUs "
          "are those of the file.",
      .examples = {{"A load beside a stream",
                    "numatlas run 'chase cpu:0 mem:0 + read cpu:1 mem:0'"},
                   {"A workload of your own", "numatlas run mine.toml"}},
      .less_memory_hint = "name smaller sizes in FILE",
      .refused_options = {"--cpus", "--threads", "--serial"},
      .usual_pages = "base",
      .one_kind_of_pages = true,
      .time = {"500ms", false, true},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .plan = with(plan),
      .refine = with(refine),
      .conclude = with(order_cases),
      .views = with(views),
      .facts = with(facts),
  };
}

}  // namespace numatlas::benchmark_run

// The flows that a file names: what runs together is the user's choice.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
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

/// What a worker's memory is called: that of the first flow on its CPU, where none is left to what
/// `otherwise` says.
MemoryPlacement worker_memory(const ScenarioFile& file, CpuId cpu,
                              const MemoryPlacement& otherwise) {
  std::optional<MemoryPlacement> first;
  for (const FileScenario& scenario : file.scenarios) {
    for (const FlowEntry& flow : scenario.flows) {
      const auto found = std::ranges::find(flow.cpus, cpu);
      if (found == flow.cpus.end() || flow.has("shares")) continue;
      if (!flow.has("memory")) return otherwise;
      if (!first) first = flow.placed[static_cast<std::size_t>(found - flow.cpus.begin())];
    }
  }
  return first.value_or(otherwise);
}

Expected<Workers> workers(Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  if (task.size > 1) {
    return fail_usage("run", "one process runs all flows of a file",
                      "start one task, without mpirun or with srun -n 1 -c CPUS");
  }
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
  for (WorkerPlacement& worker : *workers)
    worker.memory = worker_memory(own.file, *worker.cpu, worker.memory);
  return workers;
}

/// Labels that every case has: of what is measured first.
bool is_of_every_case(const std::string& label) {
  constexpr std::array all{"kernel", "size", "pages", "stores", "order", "stride"};
  return std::ranges::find(all, label) != all.end();
}

/// How the report names a scenario whose flows may differ.
Case head_of(const FileScenario& file, const Scenario& scenario, const PlanInput& input) {
  const RunOptions& options = input.options;
  Case head;
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

constexpr const char* alone =
    "alone";  ///< the title of flows that are measured by themselves first

/// Whether a rate of it is a part of what the flow reaches alone, which has to be measured first.
bool waits(const FileScenario& file) {
  return std::ranges::any_of(file.flows, [](auto& flow) { return flow.rate_part.has_value(); });
}

/// A flow of a scenario alone, all it can, with as much memory as there.
PlannedCase alone_of(const FileScenario& whole, const FlowEntry& entry, Bytes size,
                     const PlanInput& input) {
  FileScenario file;
  file.title = alone;
  file.time = whole.time;
  file.precision = whole.precision;
  FlowEntry& flow = file.flows.emplace_back(entry);
  flow.keys.erase("rate");
  flow.keys.erase("role");
  flow.rate_part.reset();
  flow.keys.insert("size");
  flow.flow.region.bytes = size;
  flow.flow.role = Role::measured;
  file.name = flow_text(flow) + " alone";
  PlannedCase planned;
  planned.scenario = scenario_of(file, input);
  planned.head = head_of(file, planned.scenario, input);
  return planned;
}

/// What a worker reached in this case.
std::optional<double> rate_in(const RunReport& report, const std::string& name, int worker) {
  for (const Case& one : report.cases)
    for (const FlowResult& flow : one.flows)
      if (const Figure* const rate = find_figure(flow, "bandwidth");
          one.name == name && flow.worker == worker && rate != nullptr)
        return rate->value();
  return std::nullopt;
}

/// By an axis and a label of every case the axis' value there.
using ValuesOfLabels = std::map<std::pair<std::string, std::string>, std::string>;

/// Error (usage): an axis `size` varies something else than the size that tells cases apart.
/// `values`: of the cases before; that of this one is added.
Expected<void> check_axes(const FileScenario& file, const Case& head, ValuesOfLabels& values) {
  for (const auto& [axis, value] : file.values) {
    if (file.skip || !is_of_every_case(axis)) continue;
    const std::string own = label_text(RunReport(), head, axis);
    const auto [other, is_new] = values.try_emplace({axis, own}, value);
    if (is_new || other->second == value) continue;
    return fail_usage("axes",
                      fmt::format("{} = {} and {}: the {} of the first measured flow is {} in both",
                                  axis, other->second, value, axis, own == "-" ? "none" : own),
                      fmt::format("name the axis otherwise: of_{}", axis));
  }
  return {};
}

/// What only the size of a flow's memory tells, where the file does not have it.
Expected<void> check_flows(const FileScenario& file, const std::vector<Flow>& flows) {
  for (const Flow& flow : flows) {
    const auto possible = check_size(flow.kernel, flow.region.bytes);
    if (possible) continue;
    Error error = possible.error();
    if (error.subject.starts_with("--")) error.subject.erase(0, 2);
    return fail(about("'" + file.name + "'", std::move(error)));
  }
  return {};
}

/// All scenarios, and what those wait for whose rates are parts of others; once that is in the
/// report, those that waited.
Expected<Plan> cases(const Options& own, const PlanInput& input, const RunReport* report) {
  const bool known = report != nullptr;
  std::set<std::string> there;  // names
  for (std::size_t i = 0; known && i < report->cases.size(); ++i)
    there.insert(report->cases[i].name);
  ValuesOfLabels values;
  Plan plan;
  for (const FileScenario& file : own.file.scenarios) {
    if (known && (!waits(file) || there.contains(file.name))) continue;
    PlannedCase planned;
    planned.skip = file.skip;
    if (!file.skip) planned.scenario = scenario_of(file, input);
    TRY(check_flows(file, planned.scenario.flows));
    planned.head = head_of(file, planned.scenario, input);
    TRY(check_axes(file, planned.head, values));
    std::size_t first = 0;
    for (const FlowEntry& entry : file.flows) {
      const std::size_t end = first + entry.cpus.size();
      if (entry.rate_part && first < planned.scenario.flows.size()) {
        const Bytes size = planned.scenario.flows[first].region.bytes;
        PlannedCase its = alone_of(file, entry, size, input);
        for (std::size_t i = first; known && i < end; ++i) {
          Flow& flow = planned.scenario.flows[i];
          if (const auto rate = rate_in(*report, its.head.name, flow.worker))
            flow.rate = *rate * *entry.rate_part;
          else
            planned.skip =
                Error{ErrorKind::unavailable, fmt::format("'{}' was not measured", its.head.name),
                      "write the rate as 2GB/s"};
        }
        if (!known && there.insert(its.head.name).second) add_case(plan, std::move(its));
      }
      first = end;
    }
    planned.later = !known && waits(file);
    there.insert(planned.head.name);
    add_case(plan, std::move(planned));
  }
  return plan;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  return cases(own, input, nullptr);
}
Expected<Plan> refine(const Options& own, const PlanInput& input, const RunReport& report) {
  return cases(own, input, &report);
}

/// Cases in the order of the file, then the flows that were measured alone.
void order_cases(const Options& own, RunReport& report) {
  std::map<std::string, std::size_t> places;
  for (const FileScenario& one : own.file.scenarios) places.emplace(one.name, places.size());
  const auto place = [&](const Case& one) {
    const auto found = places.find(one.name);
    return found == places.end() ? places.size() : found->second;
  };
  std::ranges::stable_sort(report.cases, {}, place);
}

struct ShownFigure {
  const char *key, *what, *title;
  double scale;
};
constexpr ShownFigure shown_figures[] = {
    {"latency", "latency", "latency in ns", in_ns},
    {"core_to_core", "core to core", "core to core in ns", in_ns},
    {"bandwidth_sum", "bandwidth", "bandwidth of all flows in GB/s", in_gb_per_s}};

/// The cases of a title, and the axes that they have.
struct Titled {
  std::string title;
  std::vector<std::string> axes = {};
};

/// Each title of the file, and that of the flows that were measured alone.
std::vector<Titled> titles_of(const ScenarioFile& file) {
  std::vector<Titled> titles;
  for (const FileScenario& one : file.scenarios) {
    if (std::ranges::find(titles, one.title, &Titled::title) != titles.end()) continue;
    Titled& added = titles.emplace_back(Titled{one.title});
    for (const auto& [axis, value] : one.values) added.axes.push_back(axis);
  }
  if (std::ranges::any_of(file.scenarios, waits)) titles.push_back({alone});
  return titles;
}

/// Those that its cases have.
std::vector<ShownFigure> figures_in(const RunReport& report, const Titled& titled) {
  std::vector<ShownFigure> found;
  std::ranges::copy_if(shown_figures, std::back_inserter(found), [&](const ShownFigure& figure) {
    return std::ranges::any_of(report.cases, [&](const Case& one) {
      return label_of(one, "scenario") == titled.title && estimate_of(one, figure.key);
    });
  });
  return found;
}

/// Of a scenario with one axis, or none, a table; of several matrices over the first two.
std::vector<Table> tables_of(const Titled& titled, const RunReport& report) {
  const std::vector<std::string>& axes = titled.axes;
  const auto figures = figures_in(report, titled);
  std::vector<std::string> titles;
  for (const ShownFigure& figure : figures) titles.emplace_back(figure.title);
  Table table{.title = fmt::format("{{scenario}}: {}", fmt::join(titles, ", ")),
              .apart = {"scenario"},
              .only = {"scenario=" + titled.title},
              .cells = {label_column("case", "name")}};
  const auto last =
      std::ranges::find_if(report.cases.rbegin(), report.cases.rend(), [&](const Case& one) {
        return label_of(one, "scenario") == titled.title && !one.flows_text.empty();
      });
  if (last != report.cases.rend() && !axes.empty())
    table.notes.push_back(fmt::format("{}: {}", last->name, last->flows_text));
  if (axes.size() == 1) {
    table.kind = ViewKind::curve;
    table.rows = axes.front();
    table.cells = {label_column(axes.front(), axes.front())};
  }
  std::vector<Table> matrices;
  for (const ShownFigure& figure : figures) {
    const auto cell = [&](const char* head) {
      return figure_column(head, figure.key, figure.scale, Part::with_interval);
    };
    table.cells.push_back(cell(figure.what));
    if (axes.size() < 2) continue;
    Table& matrix = matrices.emplace_back(table);
    matrix.title = fmt::format("{{scenario}}: {}, {} by {}", figure.title, axes[0], axes[1]);
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

std::vector<View> views(const Options& own, const RunReport& report) {
  const auto has_axes = [](const FileScenario& one) { return !one.values.empty(); };
  if (std::ranges::any_of(own.file.scenarios, has_axes)) {
    std::vector<Table> tables;
    for (const Titled& titled : titles_of(own.file))
      for (Table& table : tables_of(titled, report)) tables.push_back(std::move(table));
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
  constexpr std::size_t most_told = 8;
  for (const Case& one : report.cases)
    if (one.flows_text != "" && !own.lines && sums.notes.size() <= most_told)
      sums.notes.push_back(fmt::format("{}: {}", one.name, one.flows_text));
  return {flows, sums};
}

/// The best and the worst case of each scenario with axes.
std::vector<Fact> facts(const Options& own, const RunReport& report) {
  std::vector<FactRule> rules;
  for (const Titled& titled : titles_of(own.file)) {
    const auto figures = figures_in(report, titled);
    if (titled.axes.empty() || figures.empty()) continue;
    FactRule rule;
    rule.figure = figures.front().key;
    rule.heading = "{scenario}";
    std::string at;
    for (const std::string& axis : titled.axes) {
      at += fmt::format("{}{} {{{}}}", at.empty() ? "" : ", ", axis, axis);
      if (!is_of_every_case(axis)) rule.where.push_back(axis);
    }
    rule.words = fmt::format("{} of {{scenario}}, {}", figures.front().what, at);
    rule.line = "{} at " + at;
    rule.only = {"scenario=" + titled.title};
    rule.extremes = true;
    rule.comparable = {};
    rules.push_back(std::move(rule));
  }
  return facts_of(rules, report);
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "run",
      .help =
          {.summary = "run a custom workload: flows in a line, or a file in TOML",
           .listing = {Topic::memory, true},
           .description =
               "FILE is TOML and lists the flows that run concurrently: CPU, kernel and memory of "
               "each, and the axes that they vary along; or it is the flows themselves, in a line. "
               "docs/scenarios.md explains both, and examples/scenarios has files to start from. "
               "Options apply where the file does not say otherwise. The CPUs are those of the "
               "file.",
           .examples = {{"A load beside a stream",
                         "numatlas run 'chase cpu:0 mem:0 + read cpu:1 mem:0'"},
                        {"A workload of your own", "numatlas run mine.toml"}}},
      .options = {.less_memory_hint = "name smaller sizes in FILE",
                  .refused = {{"--cpus", "the CPUs are those of the flows", "change them there"},
                              {"--threads", "the CPUs are those of the flows", "change them there"},
                              {"--serial", "the flows of a scenario run together",
                               "write a scenario for each flow"}},
                  .usual_pages = "base",
                  .one_kind_of_pages = true,
                  .time = {"500ms", false, true}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .plan = with(plan),
      .refinement = {.plan = with(refine)},
      .figures = {.conclude = with(order_cases)},
      .shown = {.views = with(views), .facts = with(facts)},
  };
}

}  // namespace numatlas::benchmark_run

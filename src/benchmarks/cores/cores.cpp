// How long a cache line takes from one CPU to another: for every pair, two flows pass one line to
// and fro.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/product.h"
#include "base/text.h"
#include "base/whole.h"
#include "benchmarks/cores/pairs.h"
#include "benchmarks/extremes.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/metrics.h"

namespace numatlas::benchmark_cores {
namespace {

// What a pair takes in the least: 20 ms of samples, and about half as much to get ready.
constexpr double seconds_per_point = 0.03;

struct Options {
  std::vector<std::string> methods{"cas", "store"};
  std::string directions = "one", lines_text = "1";
  unsigned lines = 1;
  std::string home = "first";
  std::optional<MemorySpec> home_node;  ///< absent: by first touch

  bool both() const { return directions == "both"; }
};

void add_options(Options& own, CLI::App& app) {
  add_choices(app, "--method", own.methods, named({"cas", "store"}),
              "how the line is passed: by compare-and-swap from the other side's word (cas), or by "
              "polling for that word with loads and then storing (store)");
  add_value(
      app, "--home", own.home, "first|second|NODE",
      "home of the line: first touch by the first or the second CPU of the pair, or a NUMA node");
  add_value(app, "--lines", own.lines_text, "N",
            fmt::format("cache lines of a pair, in turn (1 to {})\n"
                        "The latency depends on the cache slice and the directory that a line "
                        "belongs to",
                        most_ping_pong_lines));
  add_choice(app, "--directions", own.directions, named(std::vector<std::string>{"one", "both"}),
             "each pair once, or with either CPU first\n"
             "The first asks, and with --home first has the line in its memory");
}

Expected<void> parse(Options& own, Benchmark&) {
  own.lines = TRY(parse_whole<unsigned>(own.lines_text, 1, most_ping_pong_lines, "--lines"));
  if (own.home == "first" || own.home == "second") return {};
  const bool digits =
      !own.home.empty() && own.home.find_first_not_of("0123456789") == std::string::npos;
  auto node = digits ? parse_memory_spec("bind:" + own.home) : fail(ErrorKind::usage, "");
  if (!node) {
    return fail_usage("--home", fmt::format("'{}' is not first, second or a node", own.home),
                      "nodes: see `numatlas topology`");
  }
  own.home_node = *std::move(node);
  return {};
}

/// So many that all their pairs fit into --time.
std::size_t most_cpus(const Options& own, const RunOptions& options) {
  const double seconds = std::chrono::duration<double>(options.stop.time).count();
  const double pairs =
      seconds / seconds_per_point / static_cast<double>(own.methods.size()) / (own.both() ? 2 : 1);
  // n (n - 1) / 2 pairs of n CPUs.
  return static_cast<std::size_t>(std::max(2.0, (1 + std::sqrt(1 + 8 * pairs)) / 2));
}

PlacementSpec placement(const Options& own, const RunOptions& options, const Machine& machine) {
  PlacementSpec spec = options.placement;
  if (spec.cpus.is_default && !spec.threads) {
    spec.cpus.form = CpuSpec::Form::cores;
    auto all = resolve_cpus(spec.cpus, machine, TaskContext{});
    // A single core: its hardware threads are the pair.
    if (all && all->size() == 1) all = resolve_cpus(CpuSpec{}, machine, TaskContext{});
    if (!all) return options.placement;
    std::vector<int> list;
    for (CpuId id : spread_cores(machine, *all, most_cpus(own, options))) {
      const auto thread = list.empty() ? sibling_of(machine, id) : std::nullopt;
      list.push_back(id.value);
      if (thread && std::ranges::find(*all, *thread) == all->end()) list.push_back(thread->value);
    }
    spec.cpus = {CpuSpec::Form::list, {list}, false};
  }
  spec.cpus.is_default = false;  // pinned one by one, whatever OpenMP was told
  // A pair has to know its CPUs: one thread each, whatever a launcher or OMP_NUM_THREADS says.
  const auto cpus = resolve_cpus(spec.cpus, machine, TaskContext{});
  if (cpus && !spec.threads) spec.threads = static_cast<int>(cpus->size());
  return spec;
}

Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  return resolve_placement(placement(own, options, machine), machine, task, 0);
}

Expected<void> check(const Options& own, const PlanInput& input) {
  TRY(check_one_process(input, "cores"));
  const RunOptions& options = input.options;
  if (options.placement.threads == 1) {
    return fail_usage("--threads", "one CPU is not a pair",
                      "use at least 2; without it all chosen CPUs are measured");
  }
  if (own.home_node && options.placement.memory) {
    return fail(ErrorKind::usage, "--home and --memory both say where the line is",
                "leave one of them out");
  }
  const auto cpus = distinct_cpus(input, "cores");
  if (!cpus) return fail(cpus.error());
  if (cpus->size() > 1) return {};
  return fail_about(ErrorKind::unavailable, "cores",
                    fmt::format("no pair to measure: only CPU {} is available", to_list(*cpus)),
                    "two allowed CPUs are required; a launcher may have bound this process to one "
                    "(mpirun --bind-to none)");
}

PlannedScenario pair(const Options& own, const PlanInput& input, const std::string& method,
                     int first, int second) {
  const Machine& machine = input.machines.front();
  const PageKind pages = input.pages.front();
  const std::uint64_t page = page_bytes(machine, pages).value;
  const Bytes size{(ping_pong_bytes(own.lines).value + page - 1) / page * page};
  Flow asks = plain_flow(input, kernel_named(method), first, size, pages);
  asks.kernel.as<PingPongParameters>().lines = own.lines;
  asks.region.placement = worker_of(input, own.home == "second" ? second : first).placement.memory;
  if (own.home == "second") asks.first_touch = second;
  Flow answers = asks;
  answers.worker = second;
  answers.kernel.as<PingPongParameters>().answers = true;
  answers.first_touch.reset();
  answers.shares = 0;
  answers.role = Role::load;

  const CpuId a = *worker_of(input, first).placement.cpu;
  const CpuId b = *worker_of(input, second).placement.cpu;
  PlannedScenario planned =
      new_point(input, fmt::format("{} CPUs {},{}", method, a.value, b.value), size, pages);
  planned.head.labels = {{"first_cpu", std::to_string(a.value)},
                         {"second_cpu", std::to_string(b.value)},
                         {"nearness", nearness_of(machine, a, b)},
                         {"home", own.home}};
  const CpuKind *const kind = machine.kind_of(a), *const other = machine.kind_of(b);
  if (kind != nullptr && other != nullptr) {
    const auto [one, two] = std::minmax(kind->name, other->name);
    planned.head.labels.emplace_back("kinds", one == two ? one : one + " and " + two);
  }
  if (own.lines > 1) planned.head.labels.emplace_back("lines", std::to_string(own.lines));
  if (own.both()) planned.head.labels.emplace_back("directions", own.directions);
  planned.scenario.flows = {std::move(asks), std::move(answers)};
  return planned;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  TRY(check(own, input));
  std::optional<MemoryPlacement> home;
  if (own.home_node) {
    auto node = resolve_memory(*own.home_node, input.machines.front(), 0);
    if (!node) return fail(of_option("--home", node.error()));
    home = *std::move(node);
  }
  Plan plan;
  const std::vector<int> workers = all_workers(input.layout);
  for_each_of(
      [&](const std::string& method, int first, int second) {
        if (second == first || (second < first && !own.both())) return;
        PlannedScenario planned = pair(own, input, method, first, second);
        for (Flow& flow : planned.scenario.flows)
          if (home) flow.region.placement = *home;
        add_point(plan, std::move(planned));
      },
      own.methods, workers, workers);
  return plan;
}

std::string remarks(const Options& own, const RunReport& report, const RunOptions& options) {
  std::string text;
  const std::size_t points =
      report.workers.size() * (report.workers.size() - 1) / (own.both() ? 1 : 2);
  const auto all = resolve_cpus({CpuSpec::Form::cores, {}, true}, report.machines.front(), {});
  const bool chosen = options.placement.cpus.is_default && !options.placement.threads;
  CpuSet left;
  for (CpuId id : all.value_or(std::vector<CpuId>{})) left.insert(id);
  for (const WorkerRow& worker : report.workers) left = left - worker.cpus;
  if (chosen && !left.empty()) {
    text += fmt::format(
        "{} of {} cores, as many as --time {} allows; omitted: CPUs {} (--cpus cores measures "
        "all)\n",
        all->size() - left.size(), all->size(), to_text(options.stop.time), to_list(left));
  } else if (const double least =
                 seconds_per_point * static_cast<double>(points * own.methods.size());
             Nanoseconds(static_cast<std::int64_t>(least * 1e9)) > options.stop.time) {
    text += fmt::format("--time {} is too short for {} pairs: each took at least 20 ms\n",
                        to_text(options.stop.time), points);
  }
  return text;
}

std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"kernel"})) {
    const ScenarioResult& any = *group.cases.front();
    const auto pairs = std::ranges::count_if(group.cases, [](const ScenarioResult* point) {
      return host_estimate_of(*point, "core_to_core").has_value();
    });
    if (pairs == 0) continue;
    View view;
    view.kind = ViewKind::matrix;
    const bool both = !label_of(any, "directions").empty();
    view.symmetric = !both;
    view.title = fmt::format("Core-to-core latency in ns, {}",
                             any.kernel == "cas" ? "by compare-and-swap" : "by a load and a store");
    const std::string lines = label_of(any, "lines");
    view.notes = {fmt::format(
        "half of a round trip of {}; {}",
        lines.empty() ? "one cache line" : fmt::format("a cache line ({} in turn)", lines),
        both ? "rows: the CPU that asks (first); columns: the CPU that answers (second)"
             : "rows and columns: CPUs")};
    if (both) view.notes.push_back("home of the line: " + label_of(any, "home"));
    view.where = group.labels;
    view.rows = "first_cpu";
    view.columns = "second_cpu";
    // Four CPUs fit 80 columns with their intervals.
    const bool room = pairs <= (both ? 12 : 6);
    view.cells = {
        figure_column("", "core_to_core", in_ns, room ? Part::with_interval : Part::value, 1)};
    views.push_back(std::move(view));
  }
  return views;
}

/// The nearest and the farthest pair.
std::vector<Fact> facts(const RunReport& report) {
  // Of one method: another one takes another time between the same CPUs.
  const auto latency = [&](const ScenarioResult& point) {
    return point.kernel == report.scenarios.front().kernel
               ? value_of(host_estimate_of(point, "core_to_core"))
               : std::nullopt;
  };
  const auto* const nearest = lowest_of(report.scenarios, latency);
  const auto* const farthest = highest_of(report.scenarios, latency);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const char* word, const ScenarioResult& point) {
    const std::string first = label_of(point, "first_cpu"), second = label_of(point, "second_cpu");
    const std::string nearness = label_of(point, "nearness");
    facts.push_back(
        {key,
         {{"first_cpu", first}, {"second_cpu", second}, {"nearness", nearness}},
         fmt::format("core-to-core latency between CPUs {} and {} ({})", first, second, nearness),
         "s",
         *host_estimate_of(point, "core_to_core"),
         "Core to core",
         fmt::format("{}{{}} (CPUs {} and {}, {})", word, first, second, nearness)});
  };
  if (nearest != nullptr)
    add("core_to_core_nearest", farthest == nearest ? "" : "shortest ", *nearest);
  if (farthest != nearest) add("core_to_core_farthest", "longest ", *farthest);
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "cores",
      .help =
          {.summary = "core-to-core latency between pairs of CPUs",
           .listing = {Topic::caches},
           .description = "Two CPUs pass a cache line back and forth, one pair after the other, "
                          "each with a line of its own. The figure is half of a round trip. "
                          "Without --cpus, one CPU per core and both hardware threads of one core "
                          "are measured, as many cores as --time allows; --cpus cores measures all "
                          "cores regardless of --time.",
           .examples = {{"Core-to-core latency between all cores, by compare-and-swap",
                         "numatlas cores --cpus cores --method cas"},
                        {"Both directions of each pair, over 16 lines that lie on node 1",
                         "numatlas cores --cpus 0,64,32 --home 1 --lines 16 --directions both"}}},
      .options = {.refused = {{"--threads", "cores accepts one number", "name --cpus instead",
                               true}},
                  .usual_cpus = "cores",
                  .one_kind_of_pages = true,
                  .time = {"10s", true, true}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .plan = with(plan),
      .shown = {.views = views, .facts = facts, .remarks = with(remarks)},
      // As many pairs as there is time for.
      .survey = [](const Machine&) -> SurveyPart {
        return {1, {"--method", "cas"}};
      },
  };
}

}  // namespace numatlas::benchmark_cores

// How long a cache line takes from one CPU to another: for every pair, two flows pass one line to
// and fro.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/whole.h"
#include "benchmarks/axes.h"
#include "benchmarks/cores/pairs.h"
#include "benchmarks/cores/views.h"
#include "memory/source.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas {
namespace {

// What a pair takes in the least: 20 ms of samples, and about half as much to get ready.
constexpr double seconds_per_point = 0.03;

const Spec cores_spec{
    .name = "cores",
    .summary = "core-to-core latency between pairs of CPUs",
    .listing = {Topic::caches},
    .description =
        "Two CPUs pass a cache line back and forth, one pair after the other, each with a line of "
        "its own. The figure is half of a round trip. Without --cpus, one CPU per core and both "
        "hardware threads of one core are measured, as many cores as --time allows; --cpus cores "
        "measures all cores regardless of --time.",
    .examples = {{"Core-to-core latency between all cores, by compare-and-swap",
                  "numatlas cores --cpus cores --method cas"},
                 {"Both directions of each pair, over 16 lines that lie on node 1",
                  "numatlas cores --cpus 0,64,32 --home 1 --lines 16 --directions both"}},
    .main_metric = "core_to_core",
    .usual_cpus = "cores",
    .time = {"10s", true},
};

class Cores final : public Benchmark {
 public:
  Cores() : Benchmark(cores_spec) {}
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  Expected<std::vector<WorkerPlacement>> workers(const RunOptions& options, const Machine& machine,
                                                 const TaskContext& task) const override {
    return resolve_placement(placement(options, machine), machine, task, default_threads(options));
  }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  /// A square over the CPUs, as core-to-core-latency writes it.
  std::string csv_file(const RunReport& report, const RunOptions&) const override {
    return cores_square_csv(report);
  }
  /// As many pairs as there is time for.
  SurveyPart survey(const Machine&) const override {
    return {1, {SurveyWay{{"--method", "cas"}, ""}}, ""};
  }
  std::vector<View> views(const RunReport& report) const override { return cores_views(report); }
  std::vector<Fact> facts(const RunReport& report) const override { return cores_facts(report); }
  std::string remarks(const RunReport& report, const RunOptions& options) const override;

 private:
  PlacementSpec placement(const RunOptions& options, const Machine& machine) const;
  Expected<void> check(const PlanInput& input) const;
  PlannedScenario pair(const PlanInput& input, const std::string& method, int first,
                       int second) const;
  std::size_t most_cpus(const RunOptions& options) const;
  bool both() const { return directions_ == "both"; }

  std::vector<std::string> methods_{"cas", "store"};
  std::string directions_ = "one", lines_text_ = "1";
  unsigned lines_ = 1;
  std::string home_ = "first";
  std::optional<MemorySpec> home_node_;  ///< absent: by first touch
};

void Cores::add_options(CLI::App& app) {
  add_choices(app, "--method", methods_, named({"cas", "store"}),
              "how the line is passed: by compare-and-swap from the other side's word (cas), or by "
              "polling for that word with loads and then storing (store)");
  add_value(
      app, "--home", home_, "first|second|NODE",
      "home of the line: first touch by the first or the second CPU of the pair, or a NUMA node");
  add_value(app, "--lines", lines_text_, "N",
            fmt::format("cache lines of a pair, in turn (1 to {})\n"
                        "The latency depends on the cache slice and the directory that a line "
                        "belongs to",
                        most_ping_pong_lines));
  add_choice(app, "--directions", directions_, named(std::vector<std::string>{"one", "both"}),
             "each pair once, or with either CPU first\n"
             "The first asks, and with --home first has the line in its memory");
}

Expected<void> Cores::parse_options() {
  lines_ = TRY(parse_whole<unsigned>(lines_text_, 1, most_ping_pong_lines, "--lines"));
  if (home_ == "first" || home_ == "second") return {};
  const bool digits = !home_.empty() && home_.find_first_not_of("0123456789") == std::string::npos;
  auto node = digits ? parse_memory_spec("bind:" + home_) : fail(ErrorKind::usage, "");
  if (!node) {
    return fail_usage("--home", fmt::format("'{}' is not first, second or a node", home_),
                      "nodes: see `numatlas topology`");
  }
  home_node_ = *std::move(node);
  return {};
}

/// So many that all their pairs fit into --time.
std::size_t Cores::most_cpus(const RunOptions& options) const {
  const double seconds = std::chrono::duration<double>(options.stop.time).count();
  const double pairs =
      seconds / seconds_per_point / static_cast<double>(methods_.size()) / (both() ? 2 : 1);
  // n (n - 1) / 2 pairs of n CPUs.
  return static_cast<std::size_t>(std::max(2.0, (1 + std::sqrt(1 + 8 * pairs)) / 2));
}

PlacementSpec Cores::placement(const RunOptions& options, const Machine& machine) const {
  PlacementSpec spec = options.placement;
  if (spec.cpus.is_default && !spec.threads) {
    spec.cpus.form = CpuSpec::Form::cores;
    auto all = resolve_cpus(spec.cpus, machine, TaskContext{});
    // A single core: its hardware threads are the pair.
    if (all && all->size() == 1) all = resolve_cpus(CpuSpec{}, machine, TaskContext{});
    if (!all) return options.placement;
    std::vector<int> list;
    for (CpuId id : spread_cores(machine, *all, most_cpus(options))) {
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

Expected<void> Cores::check(const PlanInput& input) const {
  TRY(check_one_process(input, "cores"));
  const RunOptions& options = input.options;
  if (!options.thread_counts.empty())
    return fail_usage("--threads", "cores accepts one number", "name --cpus instead");
  if (options.placement.threads == 1) {
    return fail_usage("--threads", "one CPU is not a pair",
                      "use at least 2; without it all chosen CPUs are measured");
  }
  if (!options.csv_file.empty() && methods_.size() > 1)
    return fail_usage("--csv", "the file holds the matrix of one method, and two are measured",
                      "choose one with --method");
  TRY(check_one_kind_of_pages(options, spec().name));
  if (home_node_ && options.placement.memory) {
    return fail(ErrorKind::usage, "--home and --memory both say where the line is",
                "leave one of them out");
  }
  const auto cpus = distinct_cpus(input, spec().name);
  if (!cpus) return fail(cpus.error());
  if (cpus->size() > 1) return {};
  return fail_about(ErrorKind::unavailable, spec().name,
                    fmt::format("no pair to measure: only CPU {} is available", to_list(*cpus)),
                    "two allowed CPUs are required; a launcher may have bound this process to one "
                    "(mpirun --bind-to none)");
}

PlannedScenario Cores::pair(const PlanInput& input, const std::string& method, int first,
                            int second) const {
  const Machine& machine = input.machines.front();
  const PageKind pages = input.pages.front();
  const std::uint64_t page = page_bytes(machine, pages).value;
  const Bytes size{(ping_pong_bytes(lines_).value + page - 1) / page * page};
  Flow asks = plain_flow(input, method, first, size, pages);
  asks.kernel.lines = lines_;
  asks.region.placement = worker_of(input, home_ == "second" ? second : first).placement.memory;
  if (home_ == "second") asks.first_touch = second;
  Flow answers = asks;
  answers.worker = second;
  answers.kernel.name = method + " answer";
  answers.first_touch.reset();
  answers.shares = 0;
  answers.role = Role::load;

  const CpuId a = *worker_of(input, first).placement.cpu;
  const CpuId b = *worker_of(input, second).placement.cpu;
  PlannedScenario planned =
      new_point(input, fmt::format("{} CPUs {},{}", method, a.value, b.value), size, pages);
  planned.head.kernel = method;
  planned.head.labels = {{"first_cpu", std::to_string(a.value)},
                         {"second_cpu", std::to_string(b.value)},
                         {"nearness", nearness_of(machine, a, b)},
                         {"home", home_}};
  const CpuKind *const kind = machine.kind_of(a), *const other = machine.kind_of(b);
  if (kind != nullptr && other != nullptr) {
    const auto [one, two] = std::minmax(kind->name, other->name);
    planned.head.labels.emplace_back("kinds", one == two ? one : one + " and " + two);
  }
  if (lines_ > 1) planned.head.labels.emplace_back("lines", std::to_string(lines_));
  if (both()) planned.head.labels.emplace_back("directions", directions_);
  planned.scenario.flows = {std::move(asks), std::move(answers)};
  return planned;
}

Expected<std::vector<PlannedScenario>> Cores::plan(const PlanInput& input) const {
  TRY(check(input));
  std::optional<MemoryPlacement> home;
  if (home_node_) {
    auto node = resolve_memory(*home_node_, input.machines.front(), 0);
    if (!node) return fail(renamed(node.error(), "--memory", "--home"));
    home = *std::move(node);
  }
  std::vector<PlannedScenario> plan;
  const std::vector<int> workers = all_workers(input.layout);
  for_each_of(
      [&](const std::string& method, int first, int second) {
        if (second == first || (second < first && !both())) return;
        PlannedScenario planned = pair(input, method, first, second);
        for (Flow& flow : planned.scenario.flows)
          if (home) flow.region.placement = *home;
        add_point(plan, std::move(planned));
      },
      methods_, workers, workers);
  return plan;
}

std::string Cores::remarks(const RunReport& report, const RunOptions& options) const {
  std::string text;
  const std::size_t points = report.workers.size() * (report.workers.size() - 1) / (both() ? 1 : 2);
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
  } else if (const double least = seconds_per_point * static_cast<double>(points * methods_.size());
             Nanoseconds(static_cast<std::int64_t>(least * 1e9)) > options.stop.time) {
    text += fmt::format("--time {} is too short for {} pairs: each took at least 20 ms\n",
                        to_text(options.stop.time), points);
  }
  return text;
}

}  // namespace

std::unique_ptr<Benchmark> make_cores_benchmark() { return std::make_unique<Cores>(); }

}  // namespace numatlas

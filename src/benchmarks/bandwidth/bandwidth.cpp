// Bandwidth: every worker runs one of STREAM's operations, or plain reads, writes and mixes, on its
// own memory, all together. The sum is what all moved in the time in which all were recording.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/text.h"
#include "benchmarks/common.h"
#include "benchmarks/on_gpus.h"
#include "record/labels.h"
#include "run/flows.h"

namespace numatlas::benchmark_bandwidth {
namespace {

struct Options {
  bool together = false;  ///< of GPUs
  bool chosen = false;    ///< kernels or sizes were named
};

void add_options(Options& own, CLI::App& app) {
  rare(app.add_flag("--together", own.together,
                    "with --on gpus: all of them at the same time, not each alone"))
      ->group("Measurement");
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  const GivenAxes& given = *benchmark.given;
  own.chosen = !given.kernel_option.empty() || !given.sizes.empty();
  benchmark.is_of_memory = given.sizes.empty();
  return {};
}

/// Where nothing else says what to measure: one worker, and all.
std::vector<int> usual_counts(const Options& own, const PlanInput& input) {
  const auto& workers = input.layout.workers;
  const bool alone = workers.size() < 2 || workers.front().rank != workers.back().rank;
  return alone || own.chosen || input.options.placement.threads || input.options.serial
             ? std::vector{all_threads}
             : std::vector{1, all_threads};
}

Expected<Point> point(const PlanInput& input, const AxisSetting& now) {
  Point point;
  for (int worker : workers_within(input.layout, now.threads))
    point.flows.push_back(stream_flow(input, now.kernel, worker, now.size, now.pages));
  return point;
}

Table table() {
  return {
      .title = "Bandwidth in GB/s (pages: {pages}; kernels: {isa})",
      .apart = {"pages"},
      .cells = {label_column("kernel", "kernel"), label_column("stores", "stores"),
                label_column("size/worker", "size"), label_column("fits", "level"),
                label_column("nodes", "nodes"), label_column("workers", "workers"),
                figure_column("sum", "bandwidth_sum", in_gb_per_s),
                figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                figure_column("best", "bandwidth_sum", in_gb_per_s, Part::best),
                figure_column("of best", "best_share", in_percent, Part::value, 0, " %"),
                figure_column("moved", "traffic_sum", in_gb_per_s),
                figure_column("worker median", "bandwidth", in_gb_per_s),
                figure_column("lowest", "bandwidth", in_gb_per_s, Part::least),
                figure_column("highest", "bandwidth", in_gb_per_s, Part::most)},
      .notes = {
          fmt::format("sum: all workers over their common time, bytes counted as STREAM does; {}: "
                      "half of its 95 % interval; best: of the visits; of best: of the highest sum "
                      "that this run measured in memory",
                      plus_minus()),
          "moved: including write-allocate reads of regular stores; less if the CPU avoids the "
          "read for ownership; -: in a cache"}};
}

/// From one CPU alone to all together.
SurveyPart survey(const Machine& machine) {
  return {2,
          {"--kernels", "read,copy,triad", "--mix", "2:1", "--stores",
           has_non_temporal_stores() ? "regular,non-temporal" : "regular", "--threads",
           scaling_counts(machine)},
          {{"numbers of CPUs", {"workers"}, 3}, {"kernels", {"kernel"}, 1, Keep::first}}};
}

SurveyPart survey_on_gpus(const Machine& machine) {
  return on_gpus::survey_part(machine,
                              {3,
                               {"--on", "gpus", "--kernels", "read,copy,triad,write,scale,add"},
                               {{"kernels", {"kernel"}, 1, Keep::first}, {"GPUs", {"gpus"}, 1}}});
}

std::string stores_words(const Case& one) {
  return one.stores == "non-temporal" ? " with non-temporal stores" : "";
}

/// Whether no two flows share a CPU: ranks of a launcher that binds nothing may.
bool each_has_its_cpu(const Case& one, const RunReport& report) {
  std::set<std::pair<int, std::string>> taken;
  for (const FlowResult& flow : one.flows) {
    const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
    if (worker.cpus.size() != 1 || !taken.insert({worker.host, to_list(worker.cpus)}).second)
      return false;
  }
  return true;
}

/// Where the pages of all flows were seen, but for a few; where nobody saw them, where they were to
/// be.
std::string memory_place(const Case& one, const RunReport& report) {
  constexpr double few = 0.1;
  NodeSet nodes;
  std::vector<std::string> unseen;
  bool own = true;
  for (const FlowResult& flow : one.flows) {
    const Residency& seen = observed_memory(flow);
    const auto main = seen.main_node();
    if (!main) {
      own = own && flow.memory == "local";
      add_once(unseen, flow.memory);
      continue;
    }
    const bool on_one = seen.fraction_on(NodeSet{*main}).value_or(1) > 1 - few;
    const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
    own = own && on_one && *main == worker.cpu_node;
    nodes = nodes | (on_one ? NodeSet{*main} : nodes_of(seen));
  }
  if (own) return "local memory";
  if (nodes.empty()) return fmt::format("memory {}", fmt::join(unseen, ", "));
  return fmt::format("memory of node{} {}", nodes.size() > 1 ? "s" : "", to_list(nodes));
}

/// The least number of workers that reach 90 % of the best sum of the same kernel and pages as
/// `peak`, in memory; absent where that is every number that was measured.
std::optional<Fact> enough_workers(const RunReport& report, const Case& peak) {
  constexpr double enough = 0.9;
  const double least = enough * host_estimate_of(peak, "bandwidth_sum")->value;
  std::set<std::size_t> counts;
  const Case* fewest = nullptr;
  for (const Case& one : report.cases) {
    if (one.kernel != peak.kernel || one.stores != peak.stores || one.pages != peak.pages ||
        !cache_text(one).empty() || one.flows.empty())
      continue;
    counts.insert(one.flows.size());
    const auto sum = host_estimate_of(one, "bandwidth_sum");
    const bool fewer = fewest == nullptr || one.flows.size() < fewest->flows.size();
    if (sum && sum->value >= least && fewer) fewest = &one;
  }
  // Of one and all the number between is not known.
  constexpr std::size_t several = 3;
  if (fewest == nullptr || counts.size() < 2 ||
      (counts.size() < several && fewest->flows.size() == *counts.rbegin()))
    return std::nullopt;
  const std::size_t workers = fewest->flows.size();
  const std::string words =
      fmt::format("90 % of the best from {}",
                  count_text(workers, each_has_its_cpu(*fewest, report) ? "CPU" : "worker"));
  return Fact{
      "enough_bandwidth",
      {{"kernel", peak.kernel}, {"stores", peak.stores}, {"workers", std::to_string(workers)}},
      words,
      "B/s",
      *host_estimate_of(*fewest, "bandwidth_sum"),
      "Bandwidth",
      words + " ({})"};
}

std::vector<Fact> facts(const RunReport& report) {
  const auto rate = [](const Case& one) {
    return cache_text(one).empty() ? value_of(host_estimate_of(one, "bandwidth_sum"))
                                   : std::nullopt;
  };
  const auto rate_alone = [&](const Case& one) {
    return one.flows.size() == 1 ? rate(one) : std::nullopt;
  };
  const auto* peak = highest_of(report.cases, rate);
  const auto* const alone = highest_of(report.cases, rate_alone);
  std::vector<Fact> facts;
  const std::string peak_key = "peak_bandwidth";
  const auto add = [&](const std::string& key, const Case& one) {
    const std::size_t workers = one.flows.size();
    const char* const what = each_has_its_cpu(one, report) ? "CPUs" : "workers";
    const std::size_t hosts = one.host_totals.size();  // none where there is one
    const std::string together =
        hosts > 1 ? fmt::format("{} {} of {} hosts, the median host's sum", workers, what, hosts)
                  : fmt::format("{} {} together", workers, what);
    const std::string how =
        fmt::format("{}{}, {}, {}, {} pages", full_name(one.flows.front()), stores_words(one),
                    workers == 1 ? "1 CPU alone" : together, memory_place(one, report), one.pages);
    facts.push_back(
        {key,
         {{"kernel", one.kernel}, {"stores", one.stores}, {"workers", std::to_string(workers)}},
         how,
         "B/s",
         *host_estimate_of(one, "bandwidth_sum"),
         "Bandwidth",
         fmt::format("{}{{}} ({})", key == peak_key ? "best " : "one CPU ", how)});
  };
  // One CPU is no peak where there are more.
  const bool together = peak != nullptr && (peak->flows.size() > 1 || report.workers.size() < 2);
  if (together) add(peak_key, *peak);
  if (!together) peak = nullptr;
  if (alone != nullptr && alone != peak) add("one_cpu_bandwidth", *alone);
  if (together) {
    if (auto enough = enough_workers(report, *peak)) facts.push_back(*std::move(enough));
  }
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "bandwidth",
      .help =
          {.summary = "bandwidth of reads, writes and the STREAM kernels",
           .description =
               "Each worker runs a kernel over its own memory; all run concurrently unless "
               "--serial is given. Bytes are counted as STREAM does; a second column includes the "
               "reads caused by write-allocate. The sum counts what all workers moved in their "
               "common time.",
           .examples = {{"STREAM's kernels on all CPUs, with both kinds of stores",
                         "numatlas bandwidth --kernels copy,scale,add,triad --stores regular,nt"},
                        {"How many threads fill the memory of node 0",
                         "numatlas bandwidth --cpus node:0 --memory bind:0 --kernels triad "
                         "--threads 1-8"}}},
      .options = {.usual_threads =
                      "1, and OMP_NUM_THREADS or one per CPU; with --kernels or --size "
                      "without the 1; one under a launcher",
                  .shown = {"--strict"}},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker, all arrays together",
                 .kernels = {"read", "copy", "triad"}},
      .sweeps = {{.point = point,
                  .threads = {.unnamed = ThreadsAxis::Unnamed::all_cpus,
                              .usual = with(usual_counts)},
                  .size = {.form = SizeRule::Form::by_worker, .leaves_out = true}}},
      .by_gpus = ByGpus{.change = [](Benchmark& its) { on_gpus::use(its, {on_gpus::bandwidth()}); },
                        .gpu_options = {"--together"},
                        .together = with.of(&Options::together),
                        .survey = survey_on_gpus},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .figures = {.conclude = add_best_shares},
      .shown = {.tables = {table()}, .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_bandwidth

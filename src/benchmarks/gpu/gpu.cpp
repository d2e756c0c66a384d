// A GPU's own memory, as its kernels see it: latency by size, bandwidth by kernel.
#include "benchmarks/gpu/gpu.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/ids.h"
#include "base/text.h"
#include "base/units.h"
#include "gpu/machine_gpus.h"
#include "gpu/runtime.h"
#include "kernels/stream.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/options.h"

namespace numatlas::benchmark_gpu {
namespace {

std::vector<Operation> all_kernels() { return Options{}.kernels; }

Expected<std::vector<Bytes>> sizes_of(const std::string& text, const char* option) {
  if (text.empty()) return std::vector<Bytes>{};
  auto sizes = parse_sizes(text);
  if (!sizes) return fail(renamed(sizes.error(), "--size", option));
  return sizes;
}

void add_options(Options& own, CLI::App& app) {
  add_choices<bool Options::*>(
      app, "--measure", own.measures,
      {{"latency", &Options::latency}, {"bandwidth", &Options::bandwidth}},
      "what to measure (default: both)\n"
      "latency: a pointer chase by one thread of the GPU; bandwidth: kernels that all of its "
      "multiprocessors run");
  add_value(app, "--gpus", own.gpus_text, "GPUS",
            "GPUs as their driver counts them: 0-3 (default: all)");
  app.add_flag("--together", own.together,
               "run the kernels of all GPUs at the same time, not each alone");
  add_choices(app, "--kernels", own.kernels, named(all_kernels()), "kernels to run");
  add_value(app, "--size", own.size_text, "SIZES",
            "memory of each kernel, all arrays together (default: a quarter of the GPU's shared "
            "cache, and 1 GiB)\n"
            "A range has the powers of two. The default is less where the GPU has less than four "
            "times as much memory");
  add_value(app, "--latency-size", own.latency_size_text, "SIZES",
            "memory that a thread chases through (default: 16KiB-1GiB)");
  rare(add_choices(app, "--gpu-loads", own.loads, named(all_gpu_loads),
                   "which caches of the GPU may answer a load of the chase\n"
                   "cached: all of them; l2: those that its multiprocessors share, past the one "
                   "that each has"));
  rare(add_value(app, "--blocks", own.blocks_text, "N",
                 "blocks of threads of a launch (default: as many as are under way at a time)"));
}

Expected<void> parse(Options& own, Benchmark&) {
  for (const auto measure : own.measures) own.*measure = true;
  if (own.measures.empty()) own.latency = own.bandwidth = true;
  if (!own.blocks_text.empty()) {
    constexpr int most_blocks = 1 << 20;
    const auto blocks = TRY(parse_counts(own.blocks_text, most_blocks, "--blocks"));
    if (blocks.size() != 1) return fail_usage("--blocks", "takes one number");
    own.blocks = static_cast<unsigned>(blocks.front());
  }
  own.gpus = TRY(parse_gpus(own.gpus_text, "--gpus"));
  own.sizes = TRY(sizes_of(own.size_text, "--size"));
  own.latency_sizes = TRY(sizes_of(own.latency_size_text, "--latency-size"));
  return {};
}

Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  const std::size_t gpus = own.gpus.empty() ? usable_gpus({machine}).size() : own.gpus.size();
  return callers(options, machine, task, own.together ? gpus : 1);
}

SurveyPart survey(const Machine& machine) {
  if (const std::string why = why_no_gpu(machine); !why.empty()) return {0, {}, why};
  return {
      3,
      {SurveyWay{{"--skip-too-large"}, ""},
       SurveyWay{{"--skip-too-large", "--kernels", "read,copy,triad", "--latency-size",
                  "64KiB,4MiB,1GiB"},
                 "kernels other than read, copy and triad; all but three sizes"},
       SurveyWay{{"--skip-too-large", "--gpus", "0", "--kernels", "read", "--latency-size", "1GiB"},
                 "GPUs other than 0; kernels other than read; latency of caches"}},
      ""};
}

}  // namespace

void OnOption::add_to(CLI::App& app, bool has_memory) {
  std::string text = "who runs it: cpus, or GPUs: gpu:0, gpu:0-3";
  if (has_memory)
    text +=
        "\nThe memory of GPUs is their own unless --memory says otherwise; gpu:1 is then the "
        "memory "
        "of GPU 1";
  rare(add_value(app, "--on", text_, "WHERE", text))->group("Measurement");
}

Expected<void> OnOption::parse() {
  if (text_ == "cpus") return {};
  constexpr std::string_view word = "gpu:";
  if (text_.starts_with(word)) {
    gpus_ = TRY(parse_gpus(text_.substr(word.size()), "--on"));
    if (!gpus_.empty()) return {};
  }
  return fail_usage("--on", fmt::format("'{}' is neither CPUs nor GPUs", text_),
                    "write cpus or gpu:0");
}

Expected<void> OnOption::refuse(const char* what,
                                const std::vector<std::pair<const char*, bool>>& options) {
  for (const auto& [option, given] : options)
    if (given)
      return fail_usage(option, fmt::format("applies only to {}", what),
                        "leave out either it or --on");
  return {};
}

void OnOption::prepare(Benchmark& benchmark) const {
  benchmark.is_of_memory = false;
  benchmark.on_gpus = benchmark.by_host = true;
  benchmark.complete = complete_gpus;
  benchmark.totals = totals;
  benchmark.flow_figures = {};
}

void OnOption::take_over(Benchmark& benchmark, Options own) const {
  prepare(benchmark);
  own.gpus = gpus_;
  const auto with = [own](auto function) {
    return [function, own](auto&&... rest) {
      return function(own, std::forward<decltype(rest)>(rest)...);
    };
  };
  benchmark.workers = with(workers);
  benchmark.plan = with([](const Options& its, const PlanInput& input) {
    auto plan = benchmark_gpu::plan(its, input);
    // It is --on that names the GPUs here, and --size the only size.
    if (!plan)
      plan = fail(renamed(renamed(plan.error(), "--gpus", "--on"), "--latency-size", "--size"));
    if (plan)
      for (PlannedScenario& planned : *plan) planned.size_option = "--size";
    return plan;
  });
  benchmark.conclude = {};
  benchmark.remarks = {};
  benchmark.views = views;
  benchmark.facts = facts;
  benchmark.csv_file = Benchmark{}.csv_file;
}

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "gpu",
      .summary = "latency and bandwidth of a GPU's own memory",
      .listing = {Topic::gpus},
      .description =
          "Measures memory as the GPU's kernels see it: the latency of dependent loads of one "
          "thread by size, in ns and cycles, and the rate of reads, writes and STREAM's kernels by "
          "all multiprocessors. The memory is the GPU's own, that of another GPU (--memory gpu:1), "
          "or the host's (--memory bind:0), over the link. A copy counts twice: read and written.",
      .examples = {{"Bandwidth of all GPUs' own memory", "numatlas gpu --measure bandwidth"},
                   {"Loads of GPU 0 from memory of NUMA node 1",
                    "numatlas gpu --gpus 0 --memory bind:1"}},
      .less_memory_hint = "use a smaller --size",
      .without_options = {"--serial"},
      .usual_pages = "base",
      .on_gpus = true,
      .by_host = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .complete = complete_gpus,
      .workers = with(workers),
      .plan = with(plan),
      .totals = totals,
      .views = views,
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_gpu

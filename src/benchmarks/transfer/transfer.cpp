// Transfers between memory of the host and GPUs: every node with memory and every GPU, both ways.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/device_totals.h"
#include "benchmarks/transfer/facts.h"
#include "benchmarks/transfer/options.h"
#include "benchmarks/transfer/plan.h"
#include "gpu/machine_gpus.h"
#include "run/benchmark.h"
#include "run/device_flows.h"

namespace numatlas::transfer_benchmark {
namespace {

struct Options {
  TransferWords words;
  TransferOptions options;
};

SurveyPart survey(const Machine& machine) {
  if (machine.is_live()) {
    if (const auto gpu = find_device(0); !gpu) return {0, {}, full_text(gpu.error())};
  }
  return {3,
          {SurveyWay{{"--skip-too-large"}, ""},
           SurveyWay{{"--skip-too-large", "--size", "64"}, "copies of more than 64 MiB"},
           SurveyWay{{"--skip-too-large", "--size", "64", "--measure", "copies"},
                     "small copies, chases, and copies between GPUs"},
           SurveyWay{{"--skip-too-large", "--size", "64", "--measure", "copies", "--gpus", "0"},
                     "GPUs other than 0; small copies and chases"}},
          ""};
}

/// A worker on every CPU, and as many more as there are copies to queue at the same time.
Expected<std::vector<WorkerPlacement>> workers(const Options& own, const RunOptions& options,
                                               const Machine& machine, const TaskContext& task) {
  RunOptions more = options;
  // Where memory is, is the plan's to say; only of what is inherited the workers know more.
  const auto& memory = options.placement.memory;
  if (memory && memory->single.mode != MemoryMode::inherit) more.placement.memory.reset();
  if (!options.placement.threads) {
    const std::size_t gpus =
        own.options.gpus.empty() ? usable_gpus({machine}).size() : own.options.gpus.size();
    constexpr std::size_t directions = 2;
    more.placement.threads = static_cast<int>(directions * (own.options.together ? gpus : 1));
  }
  return worker_on_every_cpu(more, machine, task);
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "transfer",
      .summary = "bandwidth and latency between host memory and GPUs",
      .listing = {Topic::gpus},
      .description =
          "Measures the rate of queued copies from memory of each node to each GPU, back, and both "
          "at once; the latency of one copy, each waited for; a pointer chase of each GPU through "
          "memory of each node; and copies between GPUs. The driver's library is loaded when the "
          "command runs; see `numatlas features`.",
      .examples = {{"Where memory for GPU 0 should lie",
                    "numatlas transfer --gpus 0 --measure copies"},
                   {"All GPUs at once, from memory of both sockets",
                    "numatlas transfer --measure copies --together --memory interleave:0,1"}},
      .without_options = {"--serial", "--csv"},
      .usual_pages = "base",
      .by_host = true,
      .add_options = with([](Options& own, CLI::App& app) { own.words.add_to(app); }),
      .parse_options = with([](Options& own, Benchmark&) -> Expected<void> {
        own.options = TRY(own.words.parse());
        return {};
      }),
      .complete =
          [](const RunOptions& options, Machine& machine) {
            return add_devices(machine, machine.is_live() && !options.null_engine);
          },
      .workers = with(workers),
      .plan = with([](const Options& own, const PlanInput& input) {
        return TransferPlan(input, own.options).make();
      }),
      .totals = device_totals,
      .warnings = device_warnings,
      .views = transfer_views,
      .facts = transfer_facts,
      .survey = survey,
  };
}

}  // namespace numatlas::transfer_benchmark

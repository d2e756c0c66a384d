// Transfers between memory of the host and GPUs: every node with memory and every GPU, both ways.
#include <cstddef>
#include <memory>
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

namespace numatlas {
namespace {

const Spec transfer_spec{
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
    .main_metric = "bandwidth",
    .without_options = {"--serial", "--csv"},
    .usual_pages = "base",
    .by_host = true,
};

class Transfer final : public Benchmark {
 public:
  Transfer() : Benchmark(transfer_spec) {}
  void add_options(CLI::App& app) override { words_.add_to(app); }
  Expected<void> parse_options() override {
    options_ = TRY(words_.parse());
    return {};
  }
  Expected<void> complete(const RunOptions& options, Machine& machine) const override {
    return add_devices(machine, machine.is_live() && !options.null_engine);
  }
  Expected<std::vector<WorkerPlacement>> workers(const RunOptions& options, const Machine& machine,
                                                 const TaskContext& task) const override;
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override {
    return TransferPlan(input, options_).make();
  }
  std::vector<Figure> totals(const ScenarioResult& point, const RunReport& report) const override {
    return device_totals(point, report);
  }
  std::vector<Warning> warnings(const RunReport& report) const override {
    return device_warnings(report);
  }
  SurveyPart survey(const Machine& machine) const override {
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
  std::vector<View> views(const RunReport& report) const override { return transfer_views(report); }
  std::vector<Fact> facts(const RunReport& report) const override { return transfer_facts(report); }

 private:
  TransferWords words_;
  TransferOptions options_;
};

/// A worker on every CPU, and as many more as there are copies to queue at the same time.
Expected<std::vector<WorkerPlacement>> Transfer::workers(const RunOptions& options,
                                                         const Machine& machine,
                                                         const TaskContext& task) const {
  RunOptions more = options;
  // Where memory is, is the plan's to say; only of what is inherited the workers know more.
  const auto& memory = options.placement.memory;
  if (memory && memory->single.mode != MemoryMode::inherit) more.placement.memory.reset();
  if (!options.placement.threads) {
    const std::size_t gpus =
        options_.gpus.empty() ? usable_gpus({machine}).size() : options_.gpus.size();
    constexpr std::size_t directions = 2;
    more.placement.threads = static_cast<int>(directions * (options_.together ? gpus : 1));
  }
  return worker_on_every_cpu(more, machine, task);
}

}  // namespace

std::unique_ptr<Benchmark> make_transfer_benchmark() { return std::make_unique<Transfer>(); }

}  // namespace numatlas

// A GPU's reads of its own memory, against what the memory's bus can carry: its width times its
// clock, as the driver tells them.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"

namespace numatlas {
namespace {

constexpr const char* measures = "bandwidth-gpus";

/// What held the clocks of a GPU down while it was measured: "heat"; "" for nothing.
std::string slowed_by(const RunReport& report, int gpu) {
  std::set<std::string> causes;
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows)
      if (flow.gpu && flow.gpu->gpu == gpu && !flow.gpu->slowed_by.empty())
        causes.insert(flow.gpu->slowed_by);
  }
  return fmt::format("{}", fmt::join(causes, ", "));
}

std::vector<ClaimVerdict> judge_gpus(const AuditInput& input) {
  const RunReport* const measured = input.report_of(measures);
  const Machine& machine = input.machine_of(measured);
  std::vector<ClaimVerdict> verdicts;
  for (const Gpu& gpu : machine.gpus) {
    if (!gpu.index) continue;
    const std::string number = std::to_string(*gpu.index);
    ClaimVerdict verdict{.about = fmt::format("gpu {} memory", number)};
    if (gpu.mig || !gpu.memory_bandwidth) {
      verdict.reason = gpu.mig ? "it is a slice of a GPU (MIG), which has a part of the bus"
                               : "its driver does not tell the width and clock of its memory's bus";
      verdicts.push_back(std::move(verdict));
      continue;
    }
    verdict.unit = "1";
    verdict.claimed =
        fmt::format("its memory's bus carries {}, of which {:.0f} % are expected",
                    quantity_text(*gpu.memory_bandwidth, "B/s"), input.peak_share * 100);
    verdict.claimed_value = input.peak_share;
    const Fact* const reads = input.find("gpu_read", {{"gpu", number}});
    if (reads == nullptr) {
      verdict.reason = input.why_no(measures);
      verdicts.push_back(std::move(verdict));
      continue;
    }
    const std::string slowed = measured != nullptr ? slowed_by(*measured, *gpu.index) : "";
    verdicts.push_back(judged_share(
        std::move(verdict), *reads, *gpu.memory_bandwidth,
        slowed.empty()
            ? "other processes on the GPU, its clocks: nvidia-smi -q -d CLOCK,PERFORMANCE"
            : "what held its clocks down: " + slowed));
  }
  return verdicts;
}

}  // namespace

const Claim gpu_memory_claim{
    "gpus",
    "a GPU's reads of its own memory against the width and clock of its bus",
    measures,
    [](const Machine& machine) { return !machine.gpus.empty(); },
    judge_gpus,
    [](const Machine&) {
      return std::vector<std::string>{"--on", "gpus", "--kernels", "read"};
    }};

}  // namespace numatlas

// GPUs: the PCIe link as it is against what device and slot can do, its rate against what it can
// carry, and the node that the kernel says is nearest against measured copies and loads; and a
// GPU's reads of its own memory against what the memory's bus can carry: its width times its clock,
// as the driver tells them.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "machine/pci_link.h"

namespace numatlas {
namespace {

template <class T>
std::optional<T> lesser_of(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// A GPU as the transfers name it, and its link at its fastest while they ran.
struct AuditedGpu {
  const Gpu* gpu = nullptr;
  std::string number;
  std::optional<PciLink> busy;
};

/// Numbers are the driver's; where it was not asked, the machine's order.
std::vector<AuditedGpu> gpus_of(const AuditInput& input) {
  const RunReport* const transfer = input.report_of("transfer");
  const Machine& machine = input.machine_of(transfer);
  std::vector<AuditedGpu> all;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    AuditedGpu one{&machine.gpus[i], {}, {}};
    const int number = machine.gpus[i].index.value_or(static_cast<int>(i));
    one.number = std::to_string(number);
    if (transfer != nullptr) {
      for (const Case& result : transfer->cases) {
        for (const FlowResult& flow : result.flows) {
          if (!flow.gpu || flow.gpu->gpu != number || !flow.gpu->link) continue;
          if (!one.busy || flow.gpu->link->speed > one.busy->speed) one.busy = flow.gpu->link;
        }
      }
    }
    all.push_back(one);
  }
  return all;
}

/// Idle links step down in speed, but keep their width: speed counts while copies run.
ClaimVerdict judge_link(const AuditedGpu& one) {
  ClaimVerdict verdict{.about = fmt::format("gpu {} link", one.number)};
  const auto& path = one.gpu->path;
  if (path.empty())
    return not_measurable(std::move(verdict), "the system shows no PCIe link (a virtual machine?)");
  PciLink most = path[0].link;
  if (path.size() > 1) {
    most.max_speed = lesser_of(most.max_speed, path[1].link.max_speed);
    most.max_width = lesser_of(most.max_width, path[1].link.max_width);
  }
  const PciLink now = one.busy.value_or(path[0].link);
  if (!most.max_width || !now.width)
    return not_measurable(std::move(verdict), "the system shows no width of its PCIe link");
  const PciLink able{most.max_speed, {}, most.max_width, {}};
  verdict.claimed = "device and slot can do " + link_text(able);
  const bool slow = one.busy && now.speed && most.max_speed && *now.speed < *most.max_speed;
  const bool narrow = *now.width < *most.max_width;
  const PciLink seen{one.busy ? now.speed : std::nullopt, {}, now.width, {}};
  verdict.found = link_text(seen) + (one.busy ? " while copies ran" : "");
  verdict.outcome = slow || narrow ? ClaimOutcome::contradicted : ClaimOutcome::confirmed;
  if (slow || narrow)
    verdict.next = fmt::format(
        "the seat of card and riser, the slot's lanes (bifurcation in the "
        "firmware), and link errors: lspci -vv -s {}",
        one.gpu->pci_address);
  return verdict;
}

ClaimVerdict judge_rate(const AuditedGpu& one, const AuditInput& input) {
  ClaimVerdict verdict{.about = fmt::format("gpu {} rate", one.number)};
  const auto limit = path_limit(*one.gpu);
  if (!limit)
    return not_measurable(std::move(verdict), "what its way to the CPU can carry is not known");
  verdict.unit = "1";
  verdict.claimed = fmt::format("its way to the CPU carries {}, of which {:.0f} % are expected",
                                quantity_text(*limit, "B/s"), input.peak_share * 100);
  verdict.claimed_value = input.peak_share;
  // Of each direction the best place; the slower direction counts.
  const Fact* worst = nullptr;
  for (const char* direction : {"h2d", "d2h"}) {
    const Fact* best = nullptr;
    for (const Fact* fact : input.all("gpu_copy_rate")) {
      if (where_of(*fact, "gpu") != one.number || where_of(*fact, "direction") != direction)
        continue;
      if (best == nullptr || fact->estimate.value > best->estimate.value) best = fact;
    }
    if (best != nullptr && (worst == nullptr || best->estimate.value < worst->estimate.value))
      worst = best;
  }
  if (worst == nullptr) return not_measurable(std::move(verdict), input.why_no("transfer"));
  return judged_share(std::move(verdict), *worst, *limit,
                      fmt::format("the link's state and errors (lspci -vv -s {}), the IOMMU, and "
                                  "power limits of the GPU",
                                  one.gpu->pci_address));
}

/// No other node may be clearly nearer, in copies or in the GPU's own loads.
ClaimVerdict judge_node(const AuditedGpu& one, const AuditInput& input) {
  ClaimVerdict verdict{.about = fmt::format("gpu {} node", one.number)};
  if (!one.gpu->node) return not_measurable(std::move(verdict), "the system names no node of it");
  const std::string mine = "bind:" + std::to_string(one.gpu->node->value);
  verdict.claimed = fmt::format("node {} is its nearest", one.gpu->node->value);
  verdict.unit = "1";
  std::optional<ClaimVerdict> found;
  for (const auto& [key, direction, words] :
       {std::tuple("gpu_copy_rate", "h2d", "rate of copies to it"),
        std::tuple("gpu_copy_rate", "d2h", "rate of copies from it"),
        std::tuple("gpu_latency", "", "latency of its loads")}) {
    const Fact *own = nullptr, *other = nullptr;
    const bool least = std::string(direction).empty();
    for (const Fact* fact : input.all(key)) {
      if (where_of(*fact, "gpu") != one.number || where_of(*fact, "direction") != direction ||
          !where_of(*fact, "memory").starts_with("bind:"))
        continue;
      const Fact*& best = where_of(*fact, "memory") == mine ? own : other;
      const bool better = best != nullptr && (least ? fact->estimate.value < best->estimate.value
                                                    : fact->estimate.value > best->estimate.value);
      if (best == nullptr || better) best = fact;
    }
    if (own == nullptr || other == nullptr) continue;
    const std::string node = where_of(*other, "memory").substr(5);
    const Estimate times = ratio_of(other->estimate, own->estimate);
    ClaimVerdict its = verdict;
    its.measured = times;
    its.found = fmt::format("node {} has {} its {}", node, estimate_text(times, "1"), words);
    its = judged_best(std::move(its), least ? ratio_of(own->estimate, other->estimate) : times,
                      fmt::format("the node of its root port: /sys/bus/pci/devices/{}/numa_node",
                                  one.gpu->pci_address));
    // What is wrong counts most, then what is uncertain.
    if (its.outcome == ClaimOutcome::contradicted) return its;
    if (!found ||
        (found->outcome == ClaimOutcome::confirmed && its.outcome == ClaimOutcome::not_measurable))
      found = std::move(its);
  }
  if (found) return *found;
  verdict.reason = input.machine.ordinary_memory_nodes().size() < 2
                       ? "one node has memory: no other could be nearer"
                       : input.why_no("transfer");
  return verdict;
}

std::vector<ClaimVerdict> judge_links(const AuditInput& input) {
  std::vector<ClaimVerdict> verdicts;
  for (const AuditedGpu& one : gpus_of(input)) {
    verdicts.push_back(judge_link(one));
    verdicts.push_back(judge_rate(one, input));
    verdicts.push_back(judge_node(one, input));
  }
  if (verdicts.empty()) verdicts.push_back(not_measurable({"all GPUs"}, "no GPU is visible here"));
  return verdicts;
}

constexpr const char* measures = "bandwidth-gpus";

/// What held the clocks of a GPU down while it was measured: "heat"; "" for nothing.
std::string slowed_by(const RunReport& report, int gpu) {
  std::set<std::string> causes;
  for (const Case& one : report.cases) {
    for (const FlowResult& flow : one.flows)
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

const Claim links_claim{"links", "PCIe links of GPUs, and their nearest nodes, against transfers",
                        "transfer", [](const Machine& machine) { return !machine.gpus.empty(); },
                        judge_links};

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

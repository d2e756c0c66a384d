#include "benchmarks/on_gpus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/units.h"
#include "benchmarks/survey_words.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::on_gpus {

void OnOption::add_to(CLI::App& app, bool has_memory) {
  std::string text = "who runs it: cpus, gpus (all of them), or some: gpu:0, gpu:0-3";
  if (has_memory)
    text +=
        "\nThe memory of GPUs is their own unless --memory says otherwise; gpu:1 is then the "
        "memory of GPU 1, bind:0 the host's, over the link";
  rare(add_value(app, "--on", text_, "WHERE", text))->group("Measurement");
}

Expected<void> OnOption::parse() {
  if (text_ == "cpus") return {};
  on_gpus_ = true;
  if (text_ == "gpus") return {};
  constexpr std::string_view word = "gpu:";
  if (text_.starts_with(word)) {
    gpus_ = TRY(parse_gpus(text_.substr(word.size()), "--on"));
    if (!gpus_.empty()) return {};
  }
  return fail_usage("--on", fmt::format("'{}' is neither CPUs nor GPUs", text_),
                    "write cpus, gpus or gpu:0");
}

Expected<void> OnOption::refuse(const char* what, const Given& options) const {
  for (const auto& [option, given] : options)
    if (given)
      return fail_usage(option, fmt::format("applies only to {}", what),
                        on_gpus_ ? "leave out either it or --on" : "add --on gpus");
  return {};
}

void OnOption::prepare(Benchmark& benchmark, std::size_t together) const {
  benchmark.is_of_memory = false;
  benchmark.on_gpus = benchmark.by_host = true;
  benchmark.complete = complete_gpus;
  benchmark.workers = [gpus = gpus_, together](const RunOptions& options, const Machine& machine,
                                               const TaskContext& task) {
    const std::size_t all = gpus.empty() ? usable_gpus({machine}).size() : gpus.size();
    return callers(options, machine, task, together > 0 ? together : all);
  };
  benchmark.totals = totals;
  benchmark.flow_figures = {};
}

SurveyPart survey_part(const Machine& machine, SurveyPart part) {
  if (std::string why = why_no_gpu(machine); !why.empty()) return {.reason = std::move(why)};
  return part;
}

bool is_of_host(const std::optional<MemorySpec>& memory) {
  return memory && gpu_of(memory->single) < 0;
}

std::string place_of(const std::optional<MemorySpec>& memory) {
  return memory ? memory->single.text() : "own";
}

std::string memory_words(const std::string& memory) {
  if (memory == "own") return "its own memory";
  constexpr std::string_view gpu = "gpu:";
  if (memory.starts_with(gpu)) return "memory of GPU " + memory.substr(gpu.size());
  return "memory of " + place_words(memory);
}

int multiprocessors_of(const PlanInput& input, int gpu) {
  constexpr int usual_multiprocessors = 64;  // where a driver or a file says nothing of them
  std::optional<int> fewest;
  for (const Machine& machine : input.machines) {
    const Gpu* const its = find_gpu(machine, gpu);
    if (its == nullptr) continue;
    const int count = its->multiprocessors.value_or(usual_multiprocessors);
    fewest = std::min(fewest.value_or(count), count);
  }
  return fewest.value_or(usual_multiprocessors);
}

Expected<void> check_chase_size(Bytes size) {
  constexpr Bytes two_lines{256};
  if (size >= two_lines) return {};
  return fail_usage("--size", fmt::format("{} is less than two lines of 128 bytes", to_text(size)));
}

Expected<std::vector<Operation>> kernels_of(const std::vector<Choice>& choices,
                                            const std::string& option) {
  std::vector<Operation> kernels;
  for (const Choice& choice : choices) {
    const auto* const loop = choice.spec.find<LoopParameters>();
    const auto* const mix = choice.spec.find<MixParameters>();
    if (mix != nullptr && *mix == MixParameters{2, 1}) {
      add_once(kernels, Operation::triad);
    } else if (mix != nullptr && *mix == MixParameters{1, 1}) {
      add_once(kernels, Operation::copy);
    } else if (loop != nullptr && choice.spec.stores == Stores::regular) {
      add_once(kernels, loop->operation);
    } else {
      return fail_usage(option, fmt::format("'{}' is a kernel of CPUs", choice.short_name()),
                        "GPUs run read, write, copy, scale, add and triad, and mix 2:1 or 1:1");
    }
  }
  return kernels;
}

Expected<std::optional<MemorySpec>> memory_of(const PlanInput& input) {
  const auto& asked = input.options.placement.memory;
  if (!asked || gpu_of(asked->single) >= 0) {
    for (const PageKind kind : input.options.pages) {
      if (kind != PageKind::base)
        return fail_usage("--pages", "memory of a GPU has no choice of pages", "leave it out");
    }
  }
  if (!asked) return std::optional<MemorySpec>{};
  if (asked->form != MemorySpec::Form::single) {
    return fail_usage("--memory", "a GPU kernel uses memory in one place",
                      "name one: gpu:0, bind:0, interleave:0,1, local");
  }
  const int owner = gpu_of(asked->single);
  if (owner < 0) {
    for (const Machine& machine : input.machines) {
      TRY(of_option("--memory", resolve_memory(*asked, machine, 0)));
    }
    return asked;
  }
  TRY(of_option("--memory", chosen_gpus(input, {owner})));
  return asked;
}

Bytes largest_on(const PlanInput& input, const std::vector<int>& gpus, Bytes most) {
  for (const Machine& machine : input.machines) {
    for (const int index : gpus) {
      const Gpu* const gpu = find_gpu(machine, index);
      if (gpu != nullptr && gpu->memory) most = std::min(most, Bytes{gpu->memory->value / 4});
    }
  }
  return most;
}

namespace {

/// The flow of a kernel of a GPU on a host, called by a worker that is not yet `taken`; nullopt,
/// and why (`skip`), where it cannot be.
std::optional<Flow> flow_at(const PlanInput& input, int host, const KernelSpec& kernel, Bytes size,
                            PageKind pages, const std::optional<MemorySpec>& memory,
                            std::set<int>& taken, std::optional<Error>& skip) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const int gpu = kernel.find<DeviceWork>()->gpu;
  const bool of_host = is_of_host(memory);
  const auto worker = caller_for(input, host, *find_gpu(machine, gpu),
                                 of_host ? memory->single : MemoryPlacement{}, Caller::near, taken);
  if (!worker) {
    skip =
        Error{ErrorKind::unavailable, "too few workers to run all these kernels", "", "--threads"};
    return std::nullopt;
  }
  const int owner = of_host || !memory ? gpu : gpu_of(memory->single);
  if (find_gpu(machine, owner) == nullptr) {
    skip = no_such_gpu(owner, usable_gpus({machine}));
    return std::nullopt;
  }
  taken.insert(*worker);
  const WorkerPlacement& place = worker_of(input, *worker).placement;
  MemoryPlacement placement = gpu_memory(owner);
  if (of_host) {
    auto resolved = host_memory_of(memory->single, machine, place);
    if (!resolved) {
      skip = resolved.error();
      return std::nullopt;
    }
    placement = *std::move(resolved);
  }
  Flow flow = plain_flow(input, kernel, *worker, size, pages);
  flow.kernel.seed = input.options.seed + static_cast<std::uint64_t>(*worker);
  flow.region.placement = std::move(placement);
  flow.warm_up = device_warm_up(flow);
  return flow;
}

}  // namespace

Expected<void> add_flows(const PlanInput& input, const std::vector<KernelSpec>& kernels, Bytes size,
                         PageKind pages, const std::optional<MemorySpec>& memory,
                         PlannedScenario& planned) {
  for (const KernelSpec& kernel : kernels) {
    TRY(check_size(kernel, size));
  }
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    std::set<int> taken;
    for (const KernelSpec& kernel : kernels) {
      if (find_gpu(input.machines[host], kernel.find<DeviceWork>()->gpu) == nullptr) continue;
      auto flow =
          flow_at(input, static_cast<int>(host), kernel, size, pages, memory, taken, planned.skip);
      if (flow) planned.scenario.flows.push_back(*std::move(flow));
    }
  }
  return {};
}

std::vector<Figure> totals(const ScenarioResult& point, const RunReport&) {
  const Figure* const sum = find_total(point, "bandwidth_sum");
  double peak = 0;
  for (const FlowResult& flow : point.flows) {
    if (flow.kernel == DeviceChaseParameters::name()) continue;
    // Caches have no bus.
    if (flow.level != "memory" || !flow.gpu || !flow.gpu->memory_bandwidth) return {};
    peak += *flow.gpu->memory_bandwidth;
  }
  if (sum == nullptr || !sum->estimate || !(peak > 0)) return {};
  return {{"peak_share", "1", scaled(*sum->estimate, 1 / peak), std::nullopt}};
}

}  // namespace numatlas::on_gpus

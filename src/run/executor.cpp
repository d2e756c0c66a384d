#include "run/executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas {
namespace {

using Gpus = std::vector<int>;
/// That of a GPU's kernels; nullopt: of each GPU its own.
using GpuMemory = std::optional<MemorySpec>;

const Gpus& gpus_of(const AxisSetting& now) { return now.of<Gpus>(now.own.size() - 1); }
const GpuMemory& memory_of(const AxisSetting& now) { return now.of<GpuMemory>(now.own.size() - 2); }

AxisValue value_of(const GpuMemory& memory, bool asked) {
  return {{memory ? memory->single.text() : "own"}, memory, asked};
}

/// That of --memory. Errors name the option.
Expected<std::vector<AxisValue>> asked_memory(const PlanInput& input) {
  const auto& asked = input.options.placement.memory;
  if (!is_of_host(asked)) {
    for (const PageKind kind : input.options.pages) {
      if (kind != PageKind::base)
        return fail_usage("--pages", "memory of a GPU has no choice of pages", "leave it out");
    }
  } else {
    TRY(check_one_place(input, *asked, "a GPU kernel uses memory in one place",
                        "name one: gpu:0, bind:0, interleave:0,1, local"));
  }
  const int owner = asked ? gpu_of(asked->single) : -1;
  if (owner >= 0) TRY(of_option("--memory", chosen_gpus(input, {owner})));
  return std::vector{value_of(asked, true)};
}

/// That of each node with memory, then that of each GPU.
Expected<std::vector<AxisValue>> every_memory(const PlanInput& input) {
  if (input.options.pages.size() > 1)
    return fail_usage("--pages", "--on gpu:N accepts one kind of pages", "run it once for each");
  if (input.options.placement.memory)
    return fail_usage("--memory", "the columns are all memories", "leave it out");
  std::vector<AxisValue> all;
  const auto add = [&](MemoryPlacement placement) {
    MemorySpec spec;
    spec.single = std::move(placement);
    all.push_back(value_of(spec, false));
  };
  for (const NodeId node : ordinary_memory_nodes(input)) add(bound_to(node));
  for (const int gpu : usable_gpus(input.machines)) add(gpu_memory(gpu));
  return all;
}

Axis gpus_axis(const Gpus& asked, bool together) {
  return {{"gpus"}, [=](const PlanInput& input) -> Expected<std::vector<AxisValue>> {
            return values_of_gpus(TRY(of_option("--on", chosen_gpus(input, asked))), together);
          }};
}

/// Where a kernel's memory is on the host of its worker; why it cannot be.
Expected<MemoryPlacement> placed(const GpuMemory& memory, const Machine& machine, int gpu,
                                 const WorkerPlacement& caller) {
  if (is_of_host(memory)) return host_memory_of(memory->single, machine, caller);
  const int owner = memory ? gpu_of(memory->single) : gpu;
  if (find_gpu(machine, owner) == nullptr) return fail(no_such_gpu(owner, usable_gpus({machine})));
  return gpu_memory(owner);
}

}  // namespace

CLI::Option* add_on_option(CLI::App& app, std::string& text, bool has_memory) {
  std::string help = "who runs it: cpus, gpus (all of them), or some: gpu:0, gpu:0-3";
  if (has_memory)
    help +=
        "\nThe memory of GPUs is their own unless --memory says otherwise; gpu:1 is then the "
        "memory of GPU 1, bind:0 the host's, over the link";
  return rare(add_value(app, "--on", text, "WHERE", help))->group("Measurement");
}

Expected<std::optional<Gpus>> parse_on(const std::string& text, const char* option) {
  constexpr std::string_view word = "gpu:";
  if (text == "cpus") return std::optional<Gpus>();
  if (text == "gpus") return std::optional(Gpus{});
  if (text.starts_with(word) && text.size() > word.size())
    return std::optional(TRY(parse_gpus(text.substr(word.size()), option)));
  return fail_usage(option, fmt::format("'{}' is neither CPUs nor GPUs", text),
                    "write cpus, gpus or gpu:0");
}

Expected<std::vector<Choice>> gpu_choices(const std::vector<Choice>& choices,
                                          const std::string& option) {
  std::vector<Choice> all;
  for (const Choice& choice : choices) {
    const auto* const loop = choice.spec.find<LoopParameters>();
    const auto* const mix = choice.spec.find<MixParameters>();
    DeviceStreamParameters work;
    if (mix != nullptr && *mix == MixParameters{2, 1}) {
      work.operation = Operation::triad;
    } else if (mix != nullptr && *mix == MixParameters{1, 1}) {
      work.operation = Operation::copy;
    } else if (loop != nullptr && choice.spec.stores == Stores::regular) {
      work.operation = loop->operation;
    } else {
      return fail_usage(option, fmt::format("'{}' is a kernel of CPUs", choice.short_name()),
                        "GPUs run read, write, copy, scale, add and triad, and mix 2:1 or 1:1");
    }
    const std::string name = name_of(work.operation);
    if (std::ranges::find(all, name, &Choice::name) == all.end()) all.push_back({name, {work}});
  }
  return all;
}

Benchmark by_gpus(const Benchmark& benchmark, const Gpus& gpus) {
  const ByGpus& how = *benchmark.by_gpus;
  const bool together = how.together != nullptr && *how.together;
  Benchmark its = benchmark;
  its.is_of_memory = its.runs_together = false;
  its.of_gpus = its.shown.by_host = true;
  its.check = {};
  its.options.refused = {
      {"--serial", "GPUs are measured one by one",
       how.together != nullptr ? "--together measures all at once" : "leave it out"}};
  its.workers = [=, flows = how.flows](const RunOptions& options, const Machine& machine,
                                       const TaskContext& task) {
    const std::size_t all = gpus.empty() ? usable_gpus({machine}).size() : gpus.size();
    return callers(options, machine, task, together ? all : flows);
  };
  how.change(its);
  for (Sweep& sweep : its.sweeps) {
    sweep.threads = {.compared = false};
    sweep.may_be_serial = false;
    sweep.axes.push_back({{"memory"}, how.every_memory ? every_memory : asked_memory});
    sweep.axes.push_back(gpus_axis(gpus, together));
  }
  return its;
}

std::vector<AxisValue> values_of_gpus(const Gpus& gpus, bool together) {
  if (together) return {{{fmt::format("{}", fmt::join(gpus, ","))}, gpus}};
  std::vector<AxisValue> each;
  for (const int gpu : gpus) each.push_back({{std::to_string(gpu)}, Gpus{gpu}});
  return each;
}

Expected<void> check_one_place(const PlanInput& input, const MemorySpec& memory, const char* what,
                               const char* hint) {
  if (memory.form != MemorySpec::Form::single) return fail_usage("--memory", what, hint);
  for (const Machine& machine : input.machines)
    TRY(of_option("--memory", resolve_memory(memory, machine, 0)));
  return {};
}

void for_each_caller(
    const PlanInput& input, const Gpus& gpus, std::size_t each, const MemoryPlacement& memory,
    Caller caller, const char* work, Point& point,
    const std::function<void(const Machine&, int gpu, int worker, std::size_t number)>& add) {
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    const Machine& machine = input.machines[host];
    std::set<int> taken;
    for (const int index : gpus) {
      const Gpu* const gpu = find_gpu(machine, index);
      for (std::size_t number = 0; gpu != nullptr && number < each; ++number) {
        const auto worker = caller_for(input, static_cast<int>(host), *gpu, memory, caller, taken);
        add(machine, index, worker.value_or(0), number);
        if (!worker)
          point.skip = Error{ErrorKind::unavailable, fmt::format("too few workers to {}", work), "",
                             "--threads"};
        taken.insert(worker.value_or(0));
      }
    }
  }
}

Point gpu_point(const PlanInput& input, const AxisSetting& now,
                const std::function<std::vector<KernelSpec>(int)>& kernels) {
  const GpuMemory& memory = memory_of(now);
  Point point;
  if (!is_of_host(now)) point.pages = PageKind::base;
  const Gpus& gpus = gpus_of(now);
  for_each_caller(
      input, gpus, kernels(gpus.front()).size(),
      is_of_host(now) ? memory->single : MemoryPlacement{}, Caller::near, "run all these kernels",
      point, [&](const Machine& machine, int gpu, int worker, std::size_t number) {
        KernelSpec kernel = kernels(gpu)[number];
        kernel.seed = input.options.seed + static_cast<std::uint64_t>(worker);
        Flow& flow = point.flows.emplace_back(
            plain_flow(input, kernel, worker, now.size, point.pages.value_or(now.pages)));
        const auto place = placed(memory, machine, gpu, worker_of(input, worker).placement);
        if (place)
          flow.region.placement = *place;
        else
          point.skip = place.error();
      });
  return point;
}

bool is_of_host(const std::optional<MemorySpec>& memory) {
  return memory && gpu_of(memory->single) < 0;
}
bool is_of_host(const AxisSetting& now) { return is_of_host(memory_of(now)); }

Bytes largest_on_gpus(const PlanInput& input, Bytes most) {
  for (const Machine& machine : input.machines) {
    for (const Gpu& gpu : machine.gpus)
      if (gpu.index && gpu.memory) most = std::min(most, Bytes{gpu.memory->value / 4});
  }
  return most;
}

int multiprocessors_of_gpus(const PlanInput& input) {
  constexpr int usual_multiprocessors = 64;  // where a driver or a file says nothing of them
  std::optional<int> fewest;
  for (const Machine& machine : input.machines) {
    for (const Gpu& gpu : machine.gpus) {
      const int count = gpu.multiprocessors.value_or(usual_multiprocessors);
      if (gpu.index) fewest = std::min(fewest.value_or(count), count);
    }
  }
  return fewest.value_or(usual_multiprocessors);
}

}  // namespace numatlas

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/units.h"
#include "benchmarks/axes.h"
#include "benchmarks/gpu/gpu.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::benchmark_gpu {
namespace {

// From the cache of one multiprocessor to what no cache of today holds.
constexpr Bytes smallest_chase{16 * kib}, largest_chase{1 * gib};
// Of all arrays, in memory: several times the largest caches of today.
constexpr Bytes usual_stream{1 * gib};
constexpr Bytes usual_chase_of_host{64 * mib};

/// What tells a point from the others.
struct Case {
  std::string measure;  ///< "latency", "bandwidth"
  PageKind pages = PageKind::base;
  Bytes size = {};
  Operation kernel = Operation::read;
  GpuLoads loads = GpuLoads::cached;
  std::vector<int> gpus = {};
};

// Where a driver or a file says nothing of them.
constexpr int usual_multiprocessors = 64;

}  // namespace

bool is_of_host(const std::optional<MemorySpec>& memory) {
  return memory && gpu_of(memory->single) < 0;
}

std::string place_of(const std::optional<MemorySpec>& memory) {
  return memory ? memory->single.text() : "own";
}

int multiprocessors_of(const PlanInput& input, int gpu) {
  std::optional<int> fewest;
  for (const Machine& machine : input.machines) {
    const Gpu* const its = find_gpu(machine, gpu);
    if (its == nullptr) continue;
    const int count = its->multiprocessors.value_or(usual_multiprocessors);
    fewest = std::min(fewest.value_or(count), count);
  }
  return fewest.value_or(usual_multiprocessors);
}

Expected<void> check_chase_sizes(const std::vector<Bytes>& sizes) {
  constexpr Bytes two_lines{256};
  for (const Bytes size : sizes) {
    if (size < two_lines)
      return fail_usage("--latency-size",
                        fmt::format("{} is less than two lines of 128 bytes", to_text(size)));
  }
  return {};
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

/// The smallest cache that the multiprocessors of one of them share.
std::optional<Bytes> shared_cache_of(const PlanInput& input, const std::vector<int>& gpus) {
  std::optional<Bytes> smallest;
  for (const Machine& machine : input.machines) {
    for (const int index : gpus) {
      const Gpu* const gpu = find_gpu(machine, index);
      if (gpu == nullptr || !gpu->shared_cache) continue;
      smallest = std::min(smallest.value_or(*gpu->shared_cache), *gpu->shared_cache);
    }
  }
  return smallest;
}

std::vector<Bytes> chase_sizes(const Options& own, const PlanInput& input,
                               const std::vector<int>& gpus, bool of_host) {
  if (!own.latency_sizes.empty()) return own.latency_sizes;
  if (of_host) return {usual_chase_of_host};
  const Bytes last = largest_on(input, gpus, largest_chase);
  if (own.every_memory) return {last};
  std::vector<Bytes> sizes;
  for (Bytes size = smallest_chase; size <= last; size.value *= 2) sizes.push_back(size);
  return sizes;
}

/// One that the shared cache holds, and one of memory.
std::vector<Bytes> stream_sizes(const Options& own, const PlanInput& input,
                                const std::vector<int>& gpus, bool of_host) {
  if (!own.sizes.empty()) return own.sizes;
  if (of_host) return {largest_on(input, gpus, Bytes{usual_stream.value / 4})};
  std::vector<Bytes> sizes;
  const auto cache = own.every_memory ? std::nullopt : shared_cache_of(input, gpus);
  if (cache) sizes.push_back(Bytes{cache->value / 4});
  sizes.push_back(largest_on(input, gpus, usual_stream));
  return sizes;
}

PlannedScenario head(const PlanInput& input, const Case& now, const std::string& memory) {
  PlannedScenario planned = new_point(input, "", now.size, now.pages);
  ScenarioResult& head = planned.head;
  const std::string gpus = fmt::format("{}", fmt::join(now.gpus, ","));
  head.labels = {{"measure", now.measure}, {"gpus", gpus}, {"memory", memory}};
  if (now.measure == "latency") {
    head.kernel = DeviceChaseParameters::name();
    head.order = name_of(ChainOrder::random);
    head.name = fmt::format("gpu {} latency {} memory {}", gpus, compact_text(now.size), memory);
    if (now.loads != GpuLoads::cached) head.name += fmt::format(" {}", name_of(now.loads));
    head.labels.emplace_back("gpu_loads", name_of(now.loads));
    planned.size_option = "--latency-size";
  } else {
    head.kernel = DeviceStreamParameters{{}, now.kernel, {}, 1, 0}.name();
    head.name = fmt::format("gpu {} {} {} memory {}", gpus, name_of(now.kernel),
                            compact_text(now.size), memory);
  }
  if (memory != "own" && !memory.starts_with("gpu:"))
    head.name += fmt::format(" {}", name_of(now.pages));
  return planned;
}

KernelSpec kernel_of(const Options& own, const Case& now, int gpu, bool of_gpu) {
  if (now.measure == "latency") {
    DeviceChaseParameters chase;
    chase.gpu = gpu;
    chase.loads = of_gpu ? usual_gpu_loads : usual_loads(now.size);
    chase.loads_by = now.loads;
    return {chase};
  }
  DeviceStreamParameters stream;
  stream.gpu = gpu;
  stream.operation = now.kernel;
  stream.bytes = now.size;
  stream.passes = usual_passes(now.size, of_gpu);
  stream.blocks = own.blocks;
  return {stream};
}

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

namespace {

/// That of each node with memory, then that of each GPU.
std::vector<std::optional<MemorySpec>> memories_of_all(const PlanInput& input) {
  std::vector<std::optional<MemorySpec>> all;
  const auto add = [&](MemoryPlacement placement) {
    MemorySpec spec;
    spec.single = std::move(placement);
    all.emplace_back(std::move(spec));
  };
  for (const NodeId node : ordinary_memory_nodes(input)) add(bound_to(node));
  for (const int gpu : usable_gpus(input.machines)) add(gpu_memory(gpu));
  return all;
}

/// The points of one memory.
Expected<void> add_points(const Options& own, const PlanInput& input, const std::vector<int>& gpus,
                          const std::optional<MemorySpec>& memory, Plan& plan) {
  const bool of_host = is_of_host(memory);
  const std::vector<PageKind> pages = of_host ? input.pages : std::vector{PageKind::base};
  const std::string place = place_of(memory);
  std::vector<std::vector<int>> groups{gpus};
  if (!own.together) {
    groups.clear();
    for (const int gpu : gpus) groups.push_back({gpu});
  }
  const std::vector<Bytes> chased =
      own.latency ? chase_sizes(own, input, gpus, of_host) : std::vector<Bytes>{};
  TRY(check_chase_sizes(chased));
  std::optional<Error> wrong;
  const auto add = [&](const Case& now) {
    PlannedScenario planned = head(input, now, place);
    planned.optional = own.every_memory;
    std::vector<KernelSpec> kernels;
    for (const int gpu : now.gpus) kernels.push_back(kernel_of(own, now, gpu, !of_host));
    const auto added = add_flows(input, kernels, now.size, now.pages, memory, planned);
    if (!added && !wrong) wrong = added.error();
    add_point(plan, std::move(planned));
  };
  if (own.latency) {
    for_each_of(
        [&](PageKind kind, Bytes size, GpuLoads loads, int gpu) {
          add({"latency", kind, size, Operation::read, loads, {gpu}});
        },
        pages, chased, of_host ? std::vector{GpuLoads::cached} : own.loads, gpus);
  }
  if (own.bandwidth) {
    for_each_of(
        [&](PageKind kind, Bytes size, Operation kernel, const std::vector<int>& group) {
          add({"bandwidth", kind, size, kernel, GpuLoads::cached, group});
        },
        pages, stream_sizes(own, input, gpus, of_host), own.kernels, groups);
  }
  if (wrong) return fail(*wrong);
  return {};
}

}  // namespace

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  const auto gpus = TRY(of_option("--gpus", chosen_gpus(input, own.gpus)));
  Plan plan;
  if (!own.every_memory) {
    TRY(add_points(own, input, gpus, TRY(memory_of(input)), plan));
    return plan;
  }
  if (input.options.pages.size() > 1)
    return fail_usage("--pages", "--on gpu:N accepts one kind of pages", "run it once for each");
  if (input.options.placement.memory)
    return fail_usage("--memory", "the columns are all memories", "leave it out");
  for (const auto& memory : memories_of_all(input)) {
    TRY(add_points(own, input, gpus, memory, plan));
  }
  return plan;
}

}  // namespace numatlas::benchmark_gpu

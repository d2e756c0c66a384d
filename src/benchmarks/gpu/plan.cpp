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

/// The memory asked for; nullopt: of each GPU its own.
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
    return fail_usage("--memory", "a kernel of a GPU has one place of memory",
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

bool is_of_host(const std::optional<MemorySpec>& memory) {
  return memory && gpu_of(memory->single) < 0;
}

/// The largest that all of these GPUs have room for: two such flows may be in memory at a time.
Bytes largest_on(const PlanInput& input, const std::vector<int>& gpus, Bytes most) {
  for (const Machine& machine : input.machines) {
    for (const int index : gpus) {
      const Gpu* const gpu = find_gpu(machine, index);
      if (gpu != nullptr && gpu->memory) most = std::min(most, Bytes{gpu->memory->value / 4});
    }
  }
  return most;
}

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
  std::vector<Bytes> sizes;
  for (Bytes size = smallest_chase; size <= last; size.value *= 2) sizes.push_back(size);
  return sizes;
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

/// One that the shared cache holds, and one of memory.
std::vector<Bytes> stream_sizes(const Options& own, const PlanInput& input,
                                const std::vector<int>& gpus, bool of_host) {
  if (!own.sizes.empty()) return own.sizes;
  if (of_host) return {largest_on(input, gpus, Bytes{usual_stream.value / 4})};
  std::vector<Bytes> sizes;
  if (const auto cache = shared_cache_of(input, gpus)) sizes.push_back(Bytes{cache->value / 4});
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

/// The flow of a GPU on a host; nullopt, and why, where it cannot be.
std::optional<Flow> flow_at(const Options& own, const PlanInput& input, int host, int gpu,
                            const Case& now, const std::optional<MemorySpec>& memory,
                            std::set<int>& taken, std::optional<Error>& skip) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const bool of_host = is_of_host(memory);
  const auto worker = caller_for(input, host, *find_gpu(machine, gpu),
                                 of_host ? memory->single : MemoryPlacement{}, Caller::near, taken);
  if (!worker) {
    skip =
        Error{ErrorKind::unavailable, "too few workers to run all these kernels", "", "--threads"};
    return std::nullopt;
  }
  taken.insert(*worker);
  const WorkerPlacement& place = worker_of(input, *worker).placement;
  MemoryPlacement placement = gpu_memory(memory ? gpu_of(memory->single) : gpu);
  if (of_host) {
    auto resolved = host_memory_of(memory->single, machine, place);
    if (!resolved) {
      skip = resolved.error();
      return std::nullopt;
    }
    placement = *std::move(resolved);
  }
  Flow flow = plain_flow(input, kernel_of(own, now, gpu, !of_host), *worker, now.size, now.pages);
  flow.kernel.seed = input.options.seed + static_cast<std::uint64_t>(*worker);
  flow.region.placement = std::move(placement);
  flow.warm_up = device_warm_up(flow);
  return flow;
}

}  // namespace

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  const auto gpus = TRY(of_option("--gpus", chosen_gpus(input, own.gpus)));
  const auto memory = TRY(memory_of(input));
  const bool of_host = is_of_host(memory);
  const std::vector<PageKind> pages = of_host ? input.pages : std::vector{PageKind::base};
  const std::string place = memory ? memory->single.text() : "own";
  std::vector<std::vector<int>> groups{gpus};
  if (!own.together) {
    groups.clear();
    for (const int gpu : gpus) groups.push_back({gpu});
  }
  const std::vector<Bytes> chased =
      own.latency ? chase_sizes(own, input, gpus, of_host) : std::vector<Bytes>{};
  TRY(check_chase_sizes(chased));
  Plan plan;
  std::optional<Error> wrong;
  const auto add = [&](const Case& now) {
    PlannedScenario planned = head(input, now, place);
    for (std::size_t host = 0; host < input.machines.size(); ++host) {
      std::set<int> taken;
      for (const int gpu : now.gpus) {
        if (find_gpu(input.machines[host], gpu) == nullptr) continue;
        auto flow =
            flow_at(own, input, static_cast<int>(host), gpu, now, memory, taken, planned.skip);
        if (!flow) continue;
        const auto holds = check_size(flow->kernel, now.size);
        if (!holds && !wrong) wrong = holds.error();
        planned.scenario.flows.push_back(*std::move(flow));
      }
    }
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
  return plan;
}

}  // namespace numatlas::benchmark_gpu

#include "run/device_flows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/ids.h"
#include "gpu/runtime.h"
#include "memory/source.h"
#include "run/flows.h"

namespace numatlas {
namespace {

// Smaller copies are timed several at a time: on the fastest links (NVLink-C2C) a step is then
// still as long as the calls that queue it. The tiniest are not so many that their queue has no
// end.
constexpr std::uint64_t timed_bytes = 4 * mib;
constexpr std::uint64_t most_copies = 1024;
// Before the first sample at least: links come up, and pages are mapped.
constexpr std::uint64_t warm_up_least = 64 * mib;
constexpr std::uint64_t warm_up_steps = 2, most_warm_up_steps = 1000;
// Clocks come up: for a tenth of a second or so.
constexpr std::uint64_t warm_up_launches = 16, short_chases = 64, long_chases = 6;
// What a launch of a stream moves at least: a millisecond or so.
constexpr std::uint64_t launch_bytes = 2 * gib, launch_bytes_of_host = 64 * mib;
// What fits the cache of one multiprocessor of any GPU, and what does not fit that of any.
constexpr Bytes in_own_cache{16 * kib}, past_own_cache{1 * mib};
// What no cache of a GPU of today holds.
constexpr Bytes past_all_caches_of_gpus{1 * gib};
// A launch takes milliseconds then, of which the launch itself is a thousandth.
constexpr std::uint64_t most_loads = 4096;

}  // namespace

std::uint64_t usual_copies(Bytes size, int depth) {
  const std::uint64_t together = timed_bytes / std::max<std::uint64_t>(1, size.value);
  return depth == 1 ? 1 : std::clamp<std::uint64_t>(together, 1, most_copies);
}

std::uint64_t usual_loads(Bytes size) {
  return std::min(most_loads, std::max<std::uint64_t>(1, size.value / usual_line.value));
}

std::uint64_t usual_passes(Bytes size, bool of_gpu) {
  const std::uint64_t bytes = of_gpu ? launch_bytes : launch_bytes_of_host;
  return std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, size.value));
}

std::string level_on_gpu(const Machine& machine, const Flow& flow) {
  const auto* const chase = flow.kernel.find<DeviceChaseParameters>();
  const int number = flow.kernel.find<DeviceWork>()->gpu;
  const Gpu* const gpu = find_gpu(machine, number);
  const bool own = gpu_of(flow.region.placement) == number && !flow.source;
  if (!own || gpu == nullptr) return "-";
  const Bytes size = flow.region.bytes;
  if (chase != nullptr && chase->loads_by == GpuLoads::cached && size < past_own_cache)
    return size <= in_own_cache ? "L1" : "-";
  if (!gpu->shared_cache) return size >= past_all_caches_of_gpus ? "memory" : "-";
  // Half of a cache in two parts is near to one half of the multiprocessors.
  if (size.value <= gpu->shared_cache->value / 2) return "L2";
  return size.value >= 2 * gpu->shared_cache->value ? "memory" : "-";
}

Bytes device_warm_up(const Flow& flow) {
  const std::uint64_t size = flow.region.bytes.value;
  const auto* const copy = flow.kernel.find<DeviceCopyParameters>();
  if (flow.kernel.find<DeviceStreamParameters>() != nullptr ||
      flow.kernel.find<DeviceCounterParameters>() != nullptr)
    return Bytes{size * warm_up_launches};
  const auto* const chase = flow.kernel.find<DeviceChaseParameters>();
  if (chase != nullptr && gpu_of(flow.region.placement) >= 0)
    return Bytes{size * (flow.region.bytes < past_own_cache ? short_chases : long_chases)};
  if (copy == nullptr) return Bytes{size};
  // As the engine counts: so many times the region is so many steps.
  const std::uint64_t step = size * copy->copies;
  return Bytes{size * std::clamp(warm_up_least / step, warm_up_steps, most_warm_up_steps)};
}

std::string direction_of(const Flow& flow) {
  if (!traits_of(flow.kernel).copies_on_gpu() || !flow.source) return "";
  const bool from_gpu = gpu_of(flow.source->placement) >= 0;
  const bool to_gpu = gpu_of(flow.region.placement) >= 0;
  return from_gpu && to_gpu ? "p2p" : to_gpu ? "h2d" : "d2h";
}

std::optional<int> caller_for(const PlanInput& input, int host, const Gpu& gpu,
                              const MemoryPlacement& memory, Caller where,
                              const std::set<int>& taken) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const NodeSet nodes = memory.in_force().node_set();
  std::optional<NodeId> wanted = nodes.empty() ? std::nullopt : std::optional(nodes.front());
  if (where != Caller::memory && gpu.node) wanted = gpu.node;
  std::optional<int> best;
  int best_distance = 0;
  for (int index : all_workers(input.layout)) {
    const Worker& worker = worker_of(input, index);
    if (worker.host != host || taken.contains(index)) continue;
    const int here = wanted ? distance_between(machine, worker.placement.cpu_node, *wanted) : 0;
    const bool better = where == Caller::far ? here > best_distance : here < best_distance;
    if (best && !better) continue;
    best = index;
    best_distance = here;
  }
  return best;
}

Expected<MemoryPlacement> host_memory_of(const MemoryPlacement& asked, const Machine& machine,
                                         const WorkerPlacement& caller) {
  if (asked.mode == MemoryMode::inherit && asked.source.empty()) return caller.memory;
  MemorySpec spec;
  spec.single = asked;
  return of_option("--memory", resolve_memory(spec, machine, 0, caller.cpus));
}

Expected<void> complete_gpus(const RunOptions& options, Machine& machine) {
  return add_devices(machine, machine.is_live() && !options.null_engine);
}

std::string why_no_gpu(const Machine& machine) {
  const auto gpu = machine.is_live() ? find_device(0) : nullptr;
  return gpu ? "" : full_text(gpu.error());
}

Expected<std::vector<int>> parse_gpus(const std::string& text, const char* option) {
  if (text.empty()) return std::vector<int>{};
  const auto numbers = parse_ordered_list(text);
  if (numbers && !numbers->empty()) return *numbers;
  return fail_usage(option, fmt::format("'{}' is not a list of numbers", text),
                    "such as 0,1 or 0-3");
}

Expected<Workers> callers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task, std::size_t flows) {
  RunOptions more = options;
  // Where memory is, is the plan's to say; only of what is inherited the workers know more.
  const auto& memory = options.placement.memory;
  const bool inherits = memory && memory->single.mode == MemoryMode::inherit;
  if (!inherits || gpu_of(memory->single) >= 0) more.placement.memory.reset();
  if (!options.placement.threads) more.placement.threads = static_cast<int>(flows);
  return worker_on_every_cpu(more, machine, task);
}

Expected<std::vector<int>> chosen_gpus(const PlanInput& input, const std::vector<int>& asked) {
  std::vector<int> gpus;
  const std::set<int> there = usable_gpus(input.machines);
  if (asked.empty()) gpus.assign(there.begin(), there.end());
  for (int gpu : asked) {
    if (!there.contains(gpu)) return fail(no_such_gpu(gpu, there));
    add_once(gpus, gpu);
  }
  return gpus;
}

std::optional<Error> gpu_room_problem(const std::vector<Region>& regions, const Machine& machine) {
  std::map<int, std::uint64_t> wanted;
  for (const Region& region : regions) {
    const int number = gpu_of(region.placement);
    const Gpu* const gpu = find_gpu(machine, number);
    if (gpu == nullptr || !gpu->memory) continue;
    wanted[number] += region.bytes.value;
    if (wanted[number] <= gpu->memory->value) continue;
    return Error{
        ErrorKind::resource,
        fmt::format("{} needed on GPU {}, which has {}", to_rounded_text(Bytes{wanted[number]}),
                    number, to_rounded_text(*gpu->memory)),
        "", "--size"};
  }
  return std::nullopt;
}

Error no_such_gpu(int gpu, const std::set<int>& there) {
  return {ErrorKind::unavailable,
          fmt::format("no GPU {}; available: {}", gpu, fmt::join(there, ", ")),
          "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and the like hide GPUs"};
}

}  // namespace numatlas

#include "engine/simulated/null_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "gpu/machine_gpus.h"
#include "kernels/kernel.h"
#include "machine/pci_link.h"
#include "memory/source.h"

namespace numatlas {
namespace {

// What packets leave of a link's rate, and the rate of a GPU whose link is not known.
constexpr double link_part = 0.9;
constexpr double usual_link = 25.0;  // bytes a nanosecond
// Of each way to the host's memory, against copies of pinned memory.
constexpr double pageable_part = 0.25, zero_copy_part = 0.8;
// Of memory beside another socket's CPUs; with the other direction under way on the same GPU.
constexpr double remote_part = 0.75, both_part = 0.85;
constexpr double queued_ns = 1'500, waited_ns = 8'000;
constexpr double load_ns = 800, remote_load_ns = 250;
// A GPU's own memory: loads from the cache of a multiprocessor, from that of all, from memory; what
// passes of its bus's rate, and the same of a GPU that does not tell it; the cache of all.
constexpr double own_cache_ns = 17, shared_cache_ns = 143, gpu_memory_ns = 346;
constexpr double bus_part = 0.92, usual_bus = 2'000, cache_gain = 3;  // bytes a nanosecond
constexpr Bytes usual_shared_cache{50 * mib}, usual_own_cache{192 * kib};
constexpr double saturating_blocks = 40;  // of a launch: fewer do not take all of the bus
constexpr double pin_rate = 8.0, unpin_rate = 40.0;  // bytes a nanosecond

double part_of(Pinning pinning) {
  switch (pinning) {
    case Pinning::pinned: return 1;
    case Pinning::pageable: return pageable_part;
    case Pinning::zero_copy: return zero_copy_part;
  }
  return 1;
}

/// Part of the pages that are beside another node than the GPU.
double remote_pages(const Gpu* gpu, const Residency& host) {
  if (gpu == nullptr || !gpu->node) return 0;
  return 1 - host.fraction_on({*gpu->node}).value_or(1);
}

Bytes shared_cache_of(const Gpu* gpu) {
  return gpu != nullptr && gpu->shared_cache ? *gpu->shared_cache : usual_shared_cache;
}

double memory_load_ns(const Gpu* gpu, const DeviceChaseParameters& chase, Bytes size) {
  if (size <= usual_own_cache && chase.loads_by == GpuLoads::cached) return own_cache_ns;
  return size <= shared_cache_of(gpu) ? shared_cache_ns : gpu_memory_ns;
}

/// Bytes a nanosecond that a GPU's kernels move, all together.
double stream_rate(const Gpu* gpu, const Flow& flow, double link) {
  if (gpu_of(flow.region.placement) < 0) return link * zero_copy_part;
  const bool has_rate = gpu != nullptr && gpu->memory_bandwidth;
  const double bus = has_rate ? *gpu->memory_bandwidth * 1e-9 : usual_bus;
  const double most = flow.region.bytes <= shared_cache_of(gpu) ? bus * cache_gain : bus * bus_part;
  const unsigned blocks = flow.kernel.as<DeviceStreamParameters>().blocks;
  return blocks == 0 ? most : std::min(most, blocks * most / saturating_blocks);
}

/// Of a launch: a thread waits for the cache of all; that takes one addition to a counter at a
/// time, and so many to all of them together.
double addition_ns(const DeviceCounterParameters& work, bool of_host) {
  constexpr double to_one_per_ns = 1.7, to_all_per_ns = 50;
  const double waited = of_host ? load_ns : shared_cache_ns;
  const double most = work.sharing == Sharing::same ? to_one_per_ns : to_all_per_ns;
  const auto threads = static_cast<double>(work.threads);
  const double each = std::max(waited / threads, of_host ? waited / 64 : 1 / most);
  return queued_ns + threads * static_cast<double>(work.adds) * each;
}

/// How much longer a load takes under the streams of this GPU: flat at first, steep at the end.
double queueing(const Scenario& scenario, int gpu) {
  double busy = 0;
  for (const Flow& other : scenario.flows) {
    const auto* const stream = other.kernel.find<DeviceStreamParameters>();
    if (stream == nullptr || stream->gpu != gpu) continue;
    busy += stream->blocks == 0 ? 1 : std::min(1.0, stream->blocks / saturating_blocks);
  }
  return 1 + 1.5 * std::pow(std::min(1.0, busy), 4);
}

}  // namespace

double null_gpu_step_ns(const Machine& machine, const Scenario& scenario, const Flow& flow,
                        const Residency& host) {
  const int number = flow.kernel.find<DeviceWork>()->gpu;
  const Gpu* gpu = find_gpu(machine, number);
  const double remote = remote_pages(gpu, host);
  if (const auto* const chase = flow.kernel.find<DeviceChaseParameters>()) {
    if (gpu_of(flow.region.placement) >= 0)
      return static_cast<double>(chase->loads) * memory_load_ns(gpu, *chase, flow.region.bytes) *
             queueing(scenario, number);
    return static_cast<double>(chase->loads) * (load_ns + remote * remote_load_ns);
  }
  if (const auto* const counters = flow.kernel.find<DeviceCounterParameters>())
    return addition_ns(*counters, gpu_of(flow.region.placement) < 0);
  const auto limit = gpu != nullptr ? path_limit(*gpu) : std::nullopt;
  double rate = limit ? *limit * 1e-9 * link_part : usual_link;
  if (flow.kernel.find<DeviceStreamParameters>() != nullptr) {
    const auto bytes = static_cast<double>(traffic_per_step(flow.kernel).counted());
    return queued_ns + bytes / stream_rate(gpu, flow, rate);
  }
  const auto& work = flow.kernel.as<DeviceCopyParameters>();
  rate *= part_of(work.pinning) * (1 - remote * (1 - remote_part));
  const auto same_gpu = std::ranges::count_if(scenario.flows, [&](const Flow& other) {
    const auto* const its = other.kernel.find<DeviceWork>();
    return its != nullptr && its->gpu == number;
  });
  if (same_gpu > 1) rate *= both_part;
  const double copy_ns =
      static_cast<double>(work.bytes.value) / rate + (work.depth == 1 ? waited_ns : queued_ns);
  return copy_ns * static_cast<double>(work.copies);
}

DeviceReport null_gpu_report(const Machine& machine, const Flow& flow, const Trace& trace) {
  const auto& work = *flow.kernel.find<DeviceWork>();
  DeviceReport report;
  for (const Sample& sample : trace.samples) {
    const auto steps = static_cast<std::int64_t>(trace.steps_per_sample);
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t start = sample.start_ns + sample.duration_ns * i / steps;
      const std::int64_t end = sample.start_ns + sample.duration_ns * (i + 1) / steps;
      report.steps.push_back({start, end - start});
    }
  }
  const auto bytes = static_cast<double>(flow.region.bytes.value);
  const bool in_place = flow.kernel.find<DeviceCopyParameters>() == nullptr;
  if (flow.kernel.find<DeviceStreamParameters>() != nullptr) report.grid = LaunchGrid{528, 512};
  if (in_place && gpu_of(flow.region.placement) >= 0) return report;
  if (gpu_of(flow.region.placement) >= 0 && flow.source && gpu_of(flow.source->placement) >= 0) {
    report.route = "direct";
  } else if (work.pinning != Pinning::pageable) {
    report.pin_seconds = {bytes / pin_rate * 1e-9};
    report.unpin_seconds = {bytes / unpin_rate * 1e-9};
  }
  const Gpu* gpu = find_gpu(machine, work.gpu);
  if (gpu != nullptr && !gpu->path.empty()) {
    report.link = gpu->path.front().link;
    report.link->speed = report.link->max_speed;
    report.link->width = report.link->max_width;
  }
  return report;
}

}  // namespace numatlas

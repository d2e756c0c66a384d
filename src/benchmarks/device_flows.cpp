#include "benchmarks/device_flows.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "benchmarks/flows.h"
#include "gpu/buffers.h"

namespace numatlas {
namespace {

// Smaller copies are timed several at a time.
constexpr std::uint64_t timed_bytes = 1 * mib;
// Before the first sample at least: links come up, and pages are mapped.
constexpr std::uint64_t warm_up_least = 64 * mib;
constexpr std::uint64_t warm_up_steps = 2;
// A launch takes milliseconds then, of which the launch itself is a thousandth.
constexpr std::uint64_t most_loads = 4096;

}  // namespace

std::uint64_t usual_copies(Bytes size, int depth) {
  return depth == 1 ? 1 : std::max<std::uint64_t>(1, timed_bytes / size.value);
}

std::uint64_t usual_loads(Bytes size) {
  return std::min(most_loads, std::max<std::uint64_t>(1, size.value / usual_line.value));
}

Bytes device_warm_up(const Flow& flow) {
  const std::uint64_t size = flow.region.bytes.value;
  if (flow.kernel.name == device_chase) return Bytes{size};
  // As the engine counts: so many times the region is so many steps.
  const std::uint64_t step = size * flow.kernel.device.copies;
  return Bytes{size * std::max(warm_up_steps, warm_up_least / step)};
}

std::string direction_of(const Flow& flow) {
  if (flow.kernel.name != device_copy || !flow.source) return "";
  const bool from_gpu = gpu_of(flow.source->placement) >= 0;
  const bool to_gpu = gpu_of(flow.region.placement) >= 0;
  return from_gpu && to_gpu ? "p2p" : to_gpu ? "h2d" : "d2h";
}

const Gpu* find_gpu(const Machine& machine, int index) {
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.index == index) return &gpu;
  }
  return nullptr;
}

std::set<int> usable_gpus(const std::vector<Machine>& machines) {
  std::set<int> found;
  for (const Machine& machine : machines) {
    for (const Gpu& gpu : machine.gpus) {
      if (gpu.index) found.insert(*gpu.index);
    }
  }
  return found;
}

Error no_such_gpu(int gpu, const std::set<int>& there) {
  return {ErrorKind::unavailable,
          fmt::format("there is no GPU {}, only {}", gpu, fmt::join(there, ", ")),
          "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and the like hide GPUs"};
}

}  // namespace numatlas

#include "run/device_flows.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/buffers.h"
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

Bytes device_warm_up(const Flow& flow) {
  const std::uint64_t size = flow.region.bytes.value;
  const auto* const copy = flow.kernel.find<DeviceCopyParameters>();
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

Error no_such_gpu(int gpu, const std::set<int>& there) {
  return {ErrorKind::unavailable,
          fmt::format("no GPU {}; available: {}", gpu, fmt::join(there, ", ")),
          "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and the like hide GPUs"};
}

}  // namespace numatlas

// Latency of a GPU's own memory, or of another one's: one of its threads follows a chain there.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "gpu/device_kernel.h"
#include "gpu/step_queue.h"
#include "kernels/chain.h"

namespace numatlas {
namespace {

// The chain is written by way of this much of the host's memory.
constexpr std::uint64_t chunk_bytes = 8 * mib;
// A multiprocessor's own cache is empty at each launch: chains that may fit one are followed once
// before the clocks are looked at. Others so far that the first loads do not count.
constexpr std::uint64_t most_of_own_cache = 512 * kib, few_loads = 64;

/// What a launch leaves (device/kernels.h).
struct State {
  std::uint64_t position = 0, cycles = 0, nanoseconds = 0, launches = 0;
};

class MemoryChase final : public DeviceKernel {
 public:
  MemoryChase(const KernelSpec& spec, const DeviceRef& device, const DeviceRef& owner)
      : work_(spec.as<DeviceChaseParameters>()),
        seed_(spec.seed),
        device_(device),
        owner_(owner),
        queue_(device, 1, false) {}
  ~MemoryChase() override { detach(); }

  Expected<void> prepare(const KernelMemory& memory) override;
  Expected<void> attach() override;
  void run(std::uint64_t steps) override;
  void finish() override { queue_.finish(); }
  void detach() override;
  DeviceReport take_report() override { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const override { return 1; }
  std::vector<StepCount> counts() const override;
  Expected<void> verify() const override;

 private:
  Expected<void> copy_state(CopyWay way);
  Expected<void> step();

  DeviceChaseParameters work_;
  std::uint64_t seed_;
  DeviceRef device_, owner_;
  StepQueue queue_;
  DeviceAddress memory_ = 0, state_address_ = 0;
  std::optional<ChainLayout> layout_;
  FunctionHandle function_ = nullptr;
  std::uint64_t ahead_ = 0;
  State state_;
  std::uint64_t cycles_ = 0, launches_ = 0;
};

Expected<void> MemoryChase::prepare(const KernelMemory& memory) {
  ChainSpec chain;
  chain.stride = work_.stride;
  const auto layout = ChainLayout::make(Bytes{memory.bytes}, chain, seed_);
  if (!layout) return fail(layout.error());
  layout_ = *layout;
  memory_ = reinterpret_cast<DeviceAddress>(memory.data);
  ahead_ = memory.bytes <= most_of_own_cache ? layout_->lines() : few_loads;
  TRY(queue_.open());
  const std::uint64_t stride = layout_->stride();
  const std::uint64_t lines = std::max<std::uint64_t>(1, chunk_bytes / stride);
  std::vector<std::uint64_t> chunk(lines * stride / sizeof(std::uint64_t));
  for (std::uint64_t first = 0; first < layout_->lines(); first += lines) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    const std::uint64_t count = std::min(lines, layout_->lines() - first);
    for (std::uint64_t i = 0; i < count; ++i)
      chunk[i * stride / sizeof(std::uint64_t)] = memory_ + layout_->successor(first + i) * stride;
    TRY(in_own_stream(owner_, [&](StreamHandle stream) {
      return owner_.runtime->copy(owner_.device, stream, CopyWay::host_to_device,
                                  memory_ + first * stride, chunk.data(), count * stride);
    }));
  }
  return {};
}

Expected<void> MemoryChase::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  TRY(queue_.reach(owner_));
  const bool cached = work_.loads_by == GpuLoads::cached;
  function_ = TRY(gpu.kernel(device_.device, cached ? "chase_cached" : "chase_shared"));
  state_address_ = TRY(gpu.allocate(device_.device, Bytes{sizeof state_}));
  state_ = {memory_, 0, 0, 0};
  return copy_state(CopyWay::host_to_device);
}

Expected<void> MemoryChase::copy_state(CopyWay way) {
  DeviceRuntime& gpu = *device_.runtime;
  TRY(gpu.copy(device_.device, queue_.stream(), way, state_address_, &state_, sizeof state_));
  return gpu.wait_for_stream(device_.device, queue_.stream());
}

/// Its time is that of its loads alone where the GPU tells, else that of the whole launch less the
/// part of what was loaded ahead.
Expected<void> MemoryChase::step() {
  const std::size_t before = queue_.report().steps.size();
  queue_.run(1, [&](StreamHandle stream) {
    std::uint64_t ahead = ahead_, loads = work_.loads;
    std::array<void*, 3> arguments{&state_address_, &ahead, &loads};
    return device_.runtime->launch(device_.device, stream, function_, 1, 1, arguments.data());
  });
  if (queue_.problem() || queue_.report().steps.size() == before) return {};
  TRY(copy_state(CopyWay::device_to_host));
  ++launches_;
  cycles_ += state_.cycles;
  std::int64_t& duration = queue_.report().steps.back().duration_ns;
  const double part = static_cast<double>(work_.loads) / static_cast<double>(work_.loads + ahead_);
  duration = state_.nanoseconds > 0
                 ? static_cast<std::int64_t>(state_.nanoseconds)
                 : static_cast<std::int64_t>(static_cast<double>(duration) * part);
  return {};
}

void MemoryChase::run(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps && !queue_.problem(); ++i)
    if (auto done = step(); !done) queue_.set_problem(done.error());
  // Of a device that failed the queue is asked for nothing, and waits.
  if (queue_.problem()) queue_.run(0, {});
}

std::vector<StepCount> MemoryChase::counts() const {
  if (cycles_ == 0) return {};
  return {{"cycles", static_cast<double>(cycles_) / static_cast<double>(launches_ * work_.loads)}};
}

Expected<void> MemoryChase::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  std::uint64_t line = 0, rank = layout_->rank_of(0);
  for (std::uint64_t left = launches_ * (ahead_ + work_.loads) % layout_->lines(); left > 0; --left)
    line = layout_->next(rank);
  const DeviceAddress wanted = memory_ + line * layout_->stride();
  if (state_.position == wanted && state_.launches == launches_) return {};
  return wrong_result(
      fmt::format("the chase of the GPU ended at {:#x} instead of {:#x}, after {} launches "
                  "of {}",
                  state_.position, wanted, state_.launches, launches_));
}

void MemoryChase::detach() {
  if (state_address_ != 0) (void)device_.runtime->free(device_.device, state_address_);
  state_address_ = 0;
}

}  // namespace

std::unique_ptr<DeviceKernel> make_memory_chase(const KernelSpec& spec, const DeviceRef& device,
                                                const DeviceRef& owner) {
  return std::make_unique<MemoryChase>(spec, device, owner);
}

}  // namespace numatlas

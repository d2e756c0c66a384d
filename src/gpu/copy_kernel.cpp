// Copies between the host's memory and a GPU's, or between two GPUs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/device_kernel.h"

namespace numatlas {
namespace {

// Copies are queued ahead so that the GPU never waits for the CPU; large ones need fewer, and each
// is one more to wait for when the run is stopped.
constexpr std::uint64_t bytes_ahead = 256 * mib;
constexpr std::uint64_t fewest_ahead = 2, most_ahead = 16;
// Below this a wait that sleeps takes longer than what it waits for.
constexpr std::uint64_t sleeps_from = 16 * mib;
// Threads of a zero-copy launch, at most: with 16 bytes each they have 512 KiB under way, more than
// a link of 400 GB/s takes in a microsecond, and two launches fit on a GPU of today at once.
constexpr unsigned most_blocks = 128, block_threads = 256;
// Pinning is timed so often; the last time is the one that the copies have.
constexpr int pin_times = 3;

int depth_of(const DeviceCopyParameters& work) {
  if (work.depth > 0) return work.depth;
  const std::uint64_t step = std::max<std::uint64_t>(1, work.bytes.value * work.copies);
  return static_cast<int>(std::clamp(bytes_ahead / step, fewest_ahead, most_ahead));
}

bool sleeps(const DeviceCopyParameters& work) {
  return work.depth != 1 && work.bytes.value * work.copies >= sleeps_from;
}

/// What stands in word `i` of what is copied: no two alike (odd factor), and no zeros in a row.
std::uint64_t word_at(std::uint64_t i, std::uint64_t seed) {
  return (i + 1) * 0x9E3779B97F4A7C15 ^ seed;
}

class DeviceCopy final : public DeviceKernel {
 public:
  DeviceCopy(const KernelSpec& spec, Device& device, Device* from, Device* to)
      // A thread that slept queues the next copy later, between that copy's events.
      : DeviceKernel(device, to, depth_of(spec.as<DeviceCopyParameters>()),
                     sleeps(spec.as<DeviceCopyParameters>()), "copy"),
        work_(spec.as<DeviceCopyParameters>()),
        seed_(spec.seed),
        source_{from} {}

  Expected<void> attach() override;
  void detach() override;

 private:
  bool zero_copy() const { return work_.pinning == Pinning::zero_copy; }
  std::uint64_t words() const { return work_.bytes.value / sizeof(std::uint64_t); }
  Expected<void> fill(const KernelMemory& memory) override;
  Expected<void> reach_other();
  Expected<void> launch(const StreamHandle& stream) override;
  Expected<void> copy_once(const StreamHandle& stream);
  Expected<void> compare() const override {
    return memory_.check(0, words(), "the copy is",
                         [&](std::uint64_t i) { return word_at(i, seed_); });
  }

  DeviceCopyParameters work_;
  std::uint64_t seed_;
  Side source_;
};

Expected<void> DeviceCopy::fill(const KernelMemory& memory) {
  source_.data = memory.source;
  TRY(source_.write(words(), [&](std::uint64_t i) { return word_at(i, seed_); }));
  return memory_.clear(work_.bytes.value);
}

Expected<void> DeviceCopy::attach() {
  if (source_.gpu && memory_.gpu) return reach_other();
  std::byte* const host = source_.gpu ? memory_.data : source_.data;
  for (int i = 0; work_.pinning != Pinning::pageable && i < pin_times && !stop_requested(); ++i) {
    detach();
    const std::int64_t start = monotonic_ns();
    TRY(pin(host, zero_copy()));
    queue_.report().pin_seconds.push_back(static_cast<double>(monotonic_ns() - start) * 1e-9);
  }
  if (!zero_copy()) return {};
  start_ = TRY(device_.mapped_address(host));
  return find_kernel();
}

Expected<void> DeviceCopy::reach_other() {
  Device& other = *memory_.gpu;
  if (!TRY(device_.can_reach(other))) {
    queue_.report().route = "through the host";
    return {};
  }
  // Drivers take the direct way where both sides let each other in.
  TRY(queue_.reach(other));
  const auto back = other.can_reach(device_);
  return back && *back ? other.reach(device_) : Expected<void>{};
}

void DeviceCopy::detach() {
  if (pinned_ == nullptr) return;
  const std::int64_t start = monotonic_ns();
  DeviceKernel::detach();
  queue_.report().unpin_seconds.push_back(static_cast<double>(monotonic_ns() - start) * 1e-9);
}

Expected<void> DeviceCopy::copy_once(const StreamHandle& stream) {
  const std::size_t bytes = work_.bytes.value;
  if (zero_copy()) {
    const std::uint64_t count = bytes / 16;
    const std::uint64_t blocks = (count + block_threads - 1) / block_threads;
    return launch_kernel(
        stream,
        {static_cast<unsigned>(std::min<std::uint64_t>(blocks, most_blocks)), block_threads},
        memory_.gpu ? memory_.address() : start_, source_.gpu ? source_.address() : start_, count);
  }
  if (!memory_.gpu)
    return device_.copy(stream, CopyWay::device_to_host, source_.address(), memory_.data, bytes);
  return device_.copy(stream, source_.gpu ? CopyWay::device_to_device : CopyWay::host_to_device,
                      memory_.address(), source_.data, bytes);
}

Expected<void> DeviceCopy::launch(const StreamHandle& stream) {
  for (std::uint64_t i = 0; i < work_.copies; ++i) {
    TRY(copy_once(stream));
  }
  return {};
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_copy(const KernelSpec& spec, Device& device, Device* from,
                                               Device* to) {
  return std::make_unique<DeviceCopy>(spec, device, from, to);
}

}  // namespace numatlas

// Atomic additions by threads of a GPU, in its own memory, in another one's, or in the host's.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "gpu/device_kernel.h"

namespace numatlas {
namespace {

// Launches queued ahead, so that the GPU never waits for the CPU.
constexpr int launches_ahead = 2;

class DeviceCounters final : public DeviceKernel {
 public:
  DeviceCounters(const KernelSpec& spec, Device& device, Device* owner)
      : DeviceKernel(device, owner, launches_ahead, true, "fetch_add"),
        work_(spec.as<DeviceCounterParameters>()) {}

 private:
  Expected<void> fill(const KernelMemory&) override { return memory_.clear(work_.bytes().value); }
  Expected<void> launch(const StreamHandle& stream) override;
  Expected<void> compare() const override;

  DeviceCounterParameters work_;
};

Expected<void> DeviceCounters::launch(const StreamHandle& stream) {
  const std::uint64_t block = std::min(work_.threads, DeviceCounterParameters::block);
  return launch_kernel(stream,
                       {static_cast<unsigned>(work_.threads / block), static_cast<unsigned>(block)},
                       start_, work_.apart(), work_.adds);
}

/// Each addition is in its counter, and nothing is between them.
Expected<void> DeviceCounters::compare() const {
  const std::uint64_t apart = work_.apart() / sizeof(std::uint64_t);
  const std::uint64_t adders = apart == 0 ? work_.threads : 1;
  return memory_.check(0, work_.bytes().value / sizeof(std::uint64_t), "the GPU's counters are",
                       [&](std::uint64_t i) {
                         const bool is_counter = apart == 0 ? i == 0 : i % apart == 0;
                         return is_counter ? launches_ * work_.adds * adders : 0;
                       });
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_counters(const KernelSpec& spec, Device& device,
                                                   Device* owner) {
  return std::make_unique<DeviceCounters>(spec, device, owner);
}

}  // namespace numatlas

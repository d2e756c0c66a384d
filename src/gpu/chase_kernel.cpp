// Latency from a GPU to memory of the host: one thread of it follows a chain there.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "gpu/device_kernel.h"
#include "gpu/step_queue.h"
#include "kernels/chain.h"

namespace numatlas {
namespace {

class DeviceChase final : public DeviceKernel {
 public:
  DeviceChase(const KernelSpec& spec, const DeviceRef& device)
      : work_(spec.as<DeviceChaseParameters>()),
        seed_(spec.seed),
        device_(device),
        queue_(device, 1, false) {}
  ~DeviceChase() override { detach(); }

  Expected<void> prepare(const KernelMemory& memory) override;
  Expected<void> attach() override;
  void run(std::uint64_t steps) override;
  void finish() override;
  void detach() override;
  DeviceReport take_report() override { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override;

 private:
  std::uint64_t position() const {
    return reinterpret_cast<std::uint64_t>(host_) + line_ * layout_->stride();
  }

  DeviceChaseParameters work_;
  std::uint64_t seed_;
  DeviceRef device_;
  StepQueue queue_;
  std::byte* host_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<ChainLayout> layout_;
  std::uint64_t line_ = 0, rank_ = 0;  ///< where the next step starts
  std::uint64_t delta_ = 0;            ///< from the host's addresses to the GPU's
  FunctionHandle function_ = nullptr;
  DeviceAddress result_ = 0;
  HostMapping mapping_;
  bool ran_ = false;
  std::uint64_t ended_ = 0;  ///< where the GPU's last step ended, as it says
};

Expected<void> DeviceChase::prepare(const KernelMemory& memory) {
  const auto layout = ChainLayout::make(Bytes{memory.bytes}, ChainSpec{}, seed_);
  if (!layout) return fail(layout.error());
  layout_ = *layout;
  rank_ = layout->rank_of(0);
  host_ = memory.data;
  bytes_ = memory.bytes;
  build_chain(host_, *layout);
  return prove_chain(host_, *layout);
}

Expected<void> DeviceChase::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  TRY(queue_.open());
  function_ = TRY(gpu.kernel(device_.device, "chase"));
  const auto mapped = TRY(mapping_.map(device_, host_, bytes_));
  delta_ = mapped - reinterpret_cast<DeviceAddress>(host_);
  const auto result = gpu.allocate(device_.device, Bytes{sizeof(std::uint64_t)});
  if (!result) return fail(result.error());
  result_ = *result;
  return {};
}

void DeviceChase::run(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) {
    queue_.run(1, [&](StreamHandle stream) {
      std::uint64_t address = position(), loads = work_.loads;
      std::array<void*, 4> arguments{&delta_, &address, &loads, &result_};
      return device_.runtime->launch(device_.device, stream, function_, 1, 1, arguments.data());
    });
    if (queue_.problem()) return;
    for (std::uint64_t load = 0; load < work_.loads; ++load) line_ = layout_->next(rank_);
    ran_ = true;
  }
}

void DeviceChase::finish() {
  queue_.finish();
  if (queue_.problem() || !ran_) return;
  const auto asked = device_.runtime->copy(device_.device, queue_.stream(), CopyWay::device_to_host,
                                           result_, &ended_, sizeof ended_);
  const auto read =
      asked ? device_.runtime->wait_for_stream(device_.device, queue_.stream()) : asked;
  if (!read) queue_.set_problem(read.error());
}

Expected<void> DeviceChase::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  if (!ran_ || ended_ == position()) return {};
  return wrong_result(
      fmt::format("the chase of the GPU ended at {:#x} instead of {:#x}", ended_, position()));
}

void DeviceChase::detach() {
  if (result_ != 0) (void)device_.runtime->free(device_.device, result_);
  result_ = 0;
  mapping_.unmap();
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_chase(const KernelSpec& spec, const DeviceRef& device) {
  return std::make_unique<DeviceChase>(spec, device);
}

}  // namespace numatlas

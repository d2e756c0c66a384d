// Latency from a GPU to memory of the host: one thread of it follows a chain there.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/device_kernel.h"
#include "gpu/flush.h"
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
  const void* next_lines();

  DeviceChaseParameters work_;
  std::uint64_t seed_;
  DeviceRef device_;
  StepQueue queue_;
  std::byte* host_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<const void*> lines_;  ///< of the next step
  const void* position_ = nullptr;  ///< the host's address of the line that comes next
  std::uint64_t delta_ = 0;         ///< from the host's addresses to the GPU's
  FunctionHandle function_ = nullptr;
  DeviceAddress result_ = 0;
  HostMapping mapping_;
  bool ran_ = false;
  std::uint64_t ended_ = 0;  ///< where the GPU's last step ended, as it says
};

Expected<void> DeviceChase::prepare(const KernelMemory& memory) {
  const auto layout = ChainLayout::make(Bytes{memory.bytes}, ChainSpec{}, seed_);
  if (!layout) return fail(layout.error());
  host_ = memory.data;
  bytes_ = memory.bytes;
  position_ = host_;
  lines_.resize(work_.loads);
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

/// Brings the lines of the next step into the CPU's caches, or out of all of them; where they end.
const void* DeviceChase::next_lines() {
  if (work_.caches == HostCaches::warm) return chase(position_, work_.loads);
  const void* line = position_;
  // No load between two flushes: it would bring back the line beside its own.
  for (const void*& one : lines_) {
    one = line;
    line = *static_cast<const void* const*>(line);
  }
  for (const void* one : lines_) flush_line(one);
  flush_is_done();
  return line;
}

void DeviceChase::run(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) {
    const void* const end = next_lines();
    queue_.run(1, [&](StreamHandle stream) {
      auto address = reinterpret_cast<std::uint64_t>(position_);
      std::uint64_t loads = work_.loads;
      std::array<void*, 4> arguments{&delta_, &address, &loads, &result_};
      return device_.runtime->launch(device_.device, stream, function_, 1, 1, arguments.data());
    });
    if (queue_.problem()) return;
    position_ = end;
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
  if (!ran_ || ended_ == reinterpret_cast<std::uint64_t>(position_)) return {};
  return wrong_result(fmt::format("the chase of the GPU ended at {:#x} instead of {:#x}", ended_,
                                  reinterpret_cast<std::uint64_t>(position_)));
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

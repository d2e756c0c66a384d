// Atomic additions by threads of a GPU, in its own memory, in another one's, or in the host's.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gpu/device_kernel.h"
#include "gpu/step_queue.h"

namespace numatlas {
namespace {

// Launches queued ahead, so that the GPU never waits for the CPU.
constexpr int launches_ahead = 2;

class DeviceCounters final : public DeviceKernel {
 public:
  DeviceCounters(const KernelSpec& spec, const DeviceRef& device, const DeviceRef& owner,
                 bool of_host)
      : work_(spec.as<DeviceCounterParameters>()),
        device_(device),
        owner_(owner),
        of_host_(of_host),
        queue_(device, launches_ahead, true) {}
  Expected<void> prepare(const KernelMemory& memory) override;
  Expected<void> attach() override;
  void run(std::uint64_t steps) override {
    queue_.run(steps, [this](StreamHandle stream) { return launch(stream); });
  }
  void finish() override;
  void detach() override { mapping_.unmap(); }
  DeviceReport take_report() override { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override;

 private:
  std::uint64_t words() const { return work_.bytes().value / sizeof(std::uint64_t); }
  Expected<void> launch(StreamHandle stream);
  Expected<void> read_counters();

  DeviceCounterParameters work_;
  DeviceRef device_, owner_;
  bool of_host_;
  StepQueue queue_;
  std::byte* host_ = nullptr;
  std::size_t bytes_ = 0;
  DeviceAddress counters_ = 0;
  FunctionHandle function_ = nullptr;
  std::uint64_t launches_ = 0;
  std::vector<std::uint64_t> found_;  ///< all words, once it is over
  HostMapping mapping_;
};

Expected<void> DeviceCounters::prepare(const KernelMemory& memory) {
  TRY(queue_.open());
  host_ = of_host_ ? memory.data : nullptr;
  bytes_ = memory.bytes;
  counters_ = reinterpret_cast<DeviceAddress>(memory.data);
  if (of_host_) {
    std::fill_n(host_, bytes_, std::byte{});
    return {};
  }
  return in_own_stream(owner_, [&](StreamHandle stream) {
    return owner_.runtime->fill(owner_.device, stream, counters_, 0, work_.bytes().value);
  });
}

Expected<void> DeviceCounters::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  if (of_host_) {
    counters_ = TRY(mapping_.map(device_, host_, bytes_));
  } else {
    TRY(queue_.reach(owner_));
  }
  function_ = TRY(gpu.kernel(device_.device, "fetch_add"));
  return {};
}

Expected<void> DeviceCounters::launch(StreamHandle stream) {
  const std::uint64_t block = std::min(work_.threads, DeviceCounterParameters::block);
  DeviceAddress counters = counters_;
  std::uint64_t apart = work_.apart(), adds = work_.adds;
  ++launches_;
  std::array<void*, 3> arguments{&counters, &apart, &adds};
  return device_.runtime->launch(device_.device, stream, function_,
                                 static_cast<unsigned>(work_.threads / block),
                                 static_cast<unsigned>(block), arguments.data());
}

Expected<void> DeviceCounters::read_counters() {
  found_.resize(words());
  if (of_host_) {
    std::copy_n(reinterpret_cast<const std::uint64_t*>(host_), words(), found_.begin());
    return {};
  }
  return in_own_stream(owner_, [&](StreamHandle stream) {
    return owner_.runtime->copy(owner_.device, stream, CopyWay::device_to_host, counters_,
                                found_.data(), found_.size() * sizeof found_[0]);
  });
}

void DeviceCounters::finish() {
  queue_.finish();
  if (queue_.problem()) return;
  if (const auto read = read_counters(); !read) queue_.set_problem(read.error());
}

/// Each addition is in its counter, and nothing is between them.
Expected<void> DeviceCounters::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  const std::uint64_t apart = work_.apart() / sizeof(std::uint64_t);
  const std::uint64_t adders = apart == 0 ? work_.threads : 1;
  for (std::uint64_t i = 0; i < found_.size(); ++i) {
    const bool is_counter = apart == 0 ? i == 0 : i % apart == 0;
    const std::uint64_t wanted = is_counter ? launches_ * work_.adds * adders : 0;
    if (found_[i] == wanted) continue;
    return wrong_result(
        fmt::format("word {} of the GPU's counters is {} instead of {}", i, found_[i], wanted));
  }
  return {};
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_counters(const KernelSpec& spec, const DeviceRef& device,
                                                   const DeviceRef& owner, bool of_host) {
  return std::make_unique<DeviceCounters>(spec, device, owner, of_host);
}

}  // namespace numatlas

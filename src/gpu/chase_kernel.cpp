// Latency of loads of a GPU: one of its threads follows a chain in memory of the host, in its own,
// or in another GPU's.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "gpu/device_kernel.h"
#include "kernels/chain.h"

namespace numatlas {
namespace {

// A multiprocessor's own cache is empty at each launch: chains that may fit one are followed once
// before the clocks are looked at. Others so far that the first loads do not count.
constexpr std::uint64_t most_of_own_cache = 512 * kib, few_loads = 64;
constexpr LaunchGrid one_thread{1, 1};

class Chase : public DeviceKernel {
 public:
  void run(std::uint64_t steps) final;

 protected:
  Chase(const KernelSpec& spec, Device& device, Device* owner, const char* name)
      : DeviceKernel(device, owner, 1, false, name),
        work_(spec.as<DeviceChaseParameters>()),
        seed_(spec.seed) {}

  Expected<void> lay_out(const ChainSpec& spec) {
    layout_ = TRY(ChainLayout::make(Bytes{bytes_}, spec, seed_));
    return {};
  }
  /// Of the launch that has just ended.
  virtual Expected<void> after_launch() = 0;
  Expected<void> compare() const override;

  DeviceChaseParameters work_;
  std::uint64_t seed_;
  std::optional<ChainLayout> layout_;
  std::uint64_t ahead_ = 0;  ///< loads of a launch that do not count
};

void Chase::run(std::uint64_t steps) {
  for (; steps > 0 && !queue_.problem(); --steps) {
    const std::uint64_t before = launches_;
    DeviceKernel::run(1);
    if (queue_.problem() || launches_ == before) return;
    if (auto done = after_launch(); !done) queue_.set_problem(done.error());
  }
  // Of a device that failed the queue is asked for nothing, and waits.
  if (queue_.problem()) DeviceKernel::run(0);
}

/// The first result is where the chase ended.
Expected<void> Chase::compare() const {
  std::uint64_t line = 0, rank = layout_->rank_of(0);
  for (std::uint64_t left = launches_ * (ahead_ + work_.loads) % layout_->lines(); left > 0; --left)
    line = layout_->next(rank);
  const DeviceAddress wanted = memory_.address() + line * layout_->stride();
  if (results_[0] == wanted) return {};
  return wrong_result(
      fmt::format("the chase of the GPU ended at {:#x} instead of {:#x}", results_[0], wanted));
}

/// The chain has the host's addresses; the GPU finds them elsewhere.
class HostChase final : public Chase {
 public:
  HostChase(const KernelSpec& spec, Device& device) : Chase(spec, device, nullptr, "chase") {}

 private:
  Expected<void> fill(const KernelMemory&) override {
    TRY(lay_out({}));
    rank_ = layout_->rank_of(0);
    results_.resize(1);
    build_chain(memory_.data, *layout_);
    return prove_chain(memory_.data, *layout_);
  }
  Expected<void> launch(const StreamHandle& stream) override {
    return launch_kernel(stream, one_thread, start_ - memory_.address(),
                         memory_.address() + line_ * layout_->stride(), work_.loads,
                         address_of(result_));
  }
  Expected<void> after_launch() override {
    for (std::uint64_t load = 0; load < work_.loads; ++load) line_ = layout_->next(rank_);
    return {};
  }

  std::uint64_t line_ = 0, rank_ = 0;  ///< where the next launch starts
};

/// A launch goes on where the one before it ended.
class MemoryChase final : public Chase {
 public:
  MemoryChase(const KernelSpec& spec, Device& device, Device* owner)
      : Chase(spec, device, owner,
              spec.as<DeviceChaseParameters>().loads_by == GpuLoads::cached ? "chase_cached"
                                                                            : "chase_shared") {}
  std::vector<StepCount> counts() const override;

 private:
  /// What a launch leaves (device/kernels.h).
  enum { position, cycles, nanoseconds, launches, state_words };

  Expected<void> fill(const KernelMemory&) override;
  Expected<void> launch(const StreamHandle& stream) override {
    return launch_kernel(stream, one_thread, address_of(result_), ahead_, work_.loads);
  }
  Expected<void> after_launch() override;
  Expected<void> compare() const override;

  std::uint64_t cycles_ = 0;
};

Expected<void> MemoryChase::fill(const KernelMemory&) {
  ChainSpec chain;
  chain.stride = work_.stride;
  TRY(lay_out(chain));
  ahead_ = bytes_ <= most_of_own_cache ? layout_->lines() : few_loads;
  results_.assign(state_words, 0);
  results_[position] = memory_.address();
  const std::uint64_t stride = layout_->stride(), apart = stride / sizeof(std::uint64_t);
  return memory_.write(layout_->lines() * apart, [&](std::uint64_t i) {
    return i % apart == 0 ? memory_.address() + layout_->successor(i / apart) * stride : 0;
  });
}

/// Its time is that of its loads alone where the GPU tells, else that of the whole launch less the
/// part of what was loaded ahead.
Expected<void> MemoryChase::after_launch() {
  TRY(copy_results(CopyWay::device_to_host));
  cycles_ += results_[cycles];
  std::int64_t& duration = queue_.report().steps.back().duration_ns;
  const double part = static_cast<double>(work_.loads) / static_cast<double>(work_.loads + ahead_);
  duration = results_[nanoseconds] > 0
                 ? static_cast<std::int64_t>(results_[nanoseconds])
                 : static_cast<std::int64_t>(static_cast<double>(duration) * part);
  return {};
}

std::vector<StepCount> MemoryChase::counts() const {
  if (cycles_ == 0) return {};
  return {{"cycles", static_cast<double>(cycles_) / static_cast<double>(launches_ * work_.loads)}};
}

Expected<void> MemoryChase::compare() const {
  TRY(Chase::compare());
  if (results_[launches] == launches_) return {};
  return wrong_result(fmt::format("the chase of the GPU made {} launches instead of {}",
                                  results_[launches], launches_));
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_chase(const KernelSpec& spec, Device& device,
                                                Device* owner) {
  if (owner) return std::make_unique<MemoryChase>(spec, device, owner);
  return std::make_unique<HostChase>(spec, device);
}

}  // namespace numatlas

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/group_times.h"
#include "kernels/kind.h"

namespace numatlas {
namespace {

class ChaseKernel final : public Kernel {
 public:
  explicit ChaseKernel(const KernelSpec& spec)
      : parameters_(spec.as<ChaseParameters>()), seed_(spec.seed) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    std::byte* const data = memory.data;
    auto layout = ChainLayout::make(Bytes{memory.bytes}, parameters_, seed_);
    if (!layout) return fail(layout.error());
    lines_ = layout->lines();
    data_ = data;
    layout_ = *layout;
    positions_.clear();
    for (unsigned part = 0; part < parameters_.chains; ++part)
      positions_.push_back(data + layout->start_of(part, parameters_.chains) * layout->stride());
    if (parameters_.tail_group > 0) {
      times_.emplace().loads = parameters_.tail_group;
      measure_timer(*times_);
      start_ = now();
    }
    if (memory.filled) return {};
    build_chain(data, *layout);
    TRY(prove_chain(data, *layout));
    if (parameters_.verify_full) {
      TRY(walk_chain(data, *layout));
    }
    return {};
  }

  void run(std::uint64_t steps) override {
    if (!times_) return chase_together(positions_, steps);
    const void*& position = positions_.front();
    position = chase_in_groups(position, steps / times_->loads, *times_);
    position = chase(position, steps % times_->loads);
  }
  void run_ahead(std::uint64_t steps) override {
    for (const void*& position : positions_)
      position = touch_ahead(data_, *layout_, position, steps);
  }
  std::uint64_t steps_per_pass() const override { return lines_ / parameters_.chains; }
  void count_anew() override {
    if (!times_) return;
    times_->clear();
    start_ = now();
  }
  std::optional<GroupTimes> group_times() const override {
    std::optional<GroupTimes> times = times_;
    const auto [ticks, ns] = now();
    if (times && ns > start_.second && ticks > start_.first)
      times->ns_per_tick =
          static_cast<double>(ns - start_.second) / static_cast<double>(ticks - start_.first);
    return times;
  }
  Expected<void> verify() const override { return {}; }  // the chain was proven, and is only read

 private:
  /// By the counter that times groups, and in nanoseconds.
  static std::pair<std::uint64_t, std::int64_t> now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return {ordered_ticks(), time / std::chrono::nanoseconds(1)};
  }

  ChaseParameters parameters_;
  std::uint64_t seed_;
  std::uint64_t lines_ = 0;
  const std::byte* data_ = nullptr;
  std::optional<ChainLayout> layout_;
  std::vector<const void*> positions_;            ///< of its cursors
  std::optional<GroupTimes> times_;               ///< where groups are timed
  std::pair<std::uint64_t, std::int64_t> start_;  ///< of what is counted
};

}  // namespace

std::vector<KernelKind> ChaseParameters::kinds() {
  return {{.usual = ChaseParameters{},
           .traits = {.step = StepKind::chase, .writes = false, .time = "latency"},
           .make = made<ChaseKernel>,
           .check_size = [](const KernelSpec& spec, Bytes size) -> Expected<void> {
             const auto& chase = spec.as<ChaseParameters>();
             TRY(ChainLayout::make(size, chase));
             if (chase.tail_group > 0 && chase.chains > 1)
               return fail_usage("--chains", "groups of loads are timed of one chain only",
                                 "leave out --chains or --tail");
             return {};
           },
           .traffic = [](const KernelSpec& spec) -> Traffic {
             return {sizeof(void*) * spec.as<ChaseParameters>().chains, 0, 0};
           },
           .stride = [](const KernelSpec& spec) { return spec.as<ChaseParameters>().stride; },
           .simulated =
               [](const KernelSpec& spec, std::size_t) {
                 SimulatedStep step;
                 step.under_way = spec.as<ChaseParameters>().chains;
                 return step;
               },
           .preparation = of_chain}};
}

}  // namespace numatlas

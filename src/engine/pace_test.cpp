#include "engine/pace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace numatlas {
namespace {

/// Steps of a line each that take no time.
class Lines final : public Kernel {
 public:
  Expected<void> prepare(const KernelMemory&) override { return {}; }
  void run(std::uint64_t steps) override { done += steps; }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override { return {}; }
  std::uint64_t done = 0;
};

/// A double tells 128 ns apart at the time of such a clock.
TEST(Pace, IsThatOfTheRateHoweverLongTheClockHasRun) {
  constexpr std::int64_t years_ns = 1'000'000'000'000'000'000, steps = 1'000'000;
  constexpr double step_ns = 100.0 / 3;
  for (const std::int64_t begin : {std::int64_t{0}, years_ns}) {
    ScriptedClock clock(7);
    clock.sleep_until(begin);
    Lines kernel;
    Flow flow;
    flow.kernel = {LoopParameters{Operation::read}};
    flow.rate = 64 / (step_ns * 1e-9);
    const auto run = paced(flow, kernel, clock);
    run(1);
    const std::int64_t start = clock.now_ns();
    run(steps);
    EXPECT_EQ(kernel.done, 1 + steps);
    EXPECT_NEAR(static_cast<double>(clock.now_ns() - start), steps * step_ns, 2000)
        << "a burst and some looks at the clock";
  }
}

/// A line takes 10 ns, and each burst 100 ns more until the memory is busy again.
class Bursts final : public Kernel {
 public:
  explicit Bursts(ScriptedClock& clock) : clock_(clock) {}
  Expected<void> prepare(const KernelMemory&) override { return {}; }
  void run(std::uint64_t steps) override { clock_.advance(100 + 10 * static_cast<double>(steps)); }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override { return {}; }

 private:
  ScriptedClock& clock_;
};

// Bursts of 1 us moved 0.9 of what the memory gives, and no rate above that was reached.
TEST(Pace, NearThePeakIsReachedThoughBurstsCostTime) {
  for (const double part : {0.5, 0.9, 0.95, 0.98}) {
    ScriptedClock clock(20);
    Bursts kernel(clock);
    Flow flow;
    flow.kernel = {LoopParameters{Operation::read}};
    flow.rate = part * 64 / 10e-9;
    const auto run = paced(flow, kernel, clock);
    run(1);
    const std::int64_t start = clock.now_ns();
    constexpr std::uint64_t steps = 1'000'000;
    run(steps);
    const double reached = steps * 10.0 / static_cast<double>(clock.now_ns() - start);
    EXPECT_NEAR(reached / part, 1, 0.01) << part;
  }
}

}  // namespace
}  // namespace numatlas

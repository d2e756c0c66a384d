#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/statistics.h"

namespace numatlas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

StopRule rule_for(Nanoseconds time) {
  StopRule rule;
  rule.time = time;
  return rule;
}

/// Samples a kernel whose step costs what `step_ns` says at the time it starts, as long as the rule
/// says.
Trace sample(std::int64_t clock_cost_ns, const StopRule& rule,
             const std::function<double(std::int64_t)>& step_ns) {
  ScriptedClock clock(clock_cost_ns);
  std::int64_t kernel_ns = 0;  // the kernel's own notion of time: reading the clock would move it
  Sampler sampler(clock, rule, [&](std::uint64_t steps) {
    const double time = static_cast<double>(steps) * step_ns(kernel_ns);
    kernel_ns += static_cast<std::int64_t>(time);
    clock.advance(time);
  });
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  return trace;
}

std::int64_t recorded_ns(const Trace& trace) {
  return trace.samples.back().start_ns + trace.samples.back().duration_ns -
         trace.samples.front().start_ns;
}

TEST(Sampler, WhatMakesReadyIsNoPartOfASample) {
  ScriptedClock clock(10);
  std::uint64_t ready = 0, ran = 0, first_steps = 0;
  // It takes as long as many samples, and longer than a turn of a scheduler.
  Sampler sampler(
      clock, rule_for(milliseconds(2000)),
      [&](std::uint64_t steps) {
        EXPECT_EQ(ready, steps) << "ready for just these";
        ready = 0;
        if (ran++ == 0) first_steps = steps;
        clock.advance(static_cast<double>(steps) * 50'000);
      },
      1, 1,
      [&](std::uint64_t steps) {
        ready = steps;
        clock.advance(ran % 7 == 0 ? 150e6 : 1000);
      });
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  EXPECT_EQ(first_steps, 1U);
  ASSERT_FALSE(trace.samples.empty());
  for (const Sample& one : trace.samples)
    EXPECT_NEAR(static_cast<double>(one.duration_ns),
                static_cast<double>(trace.steps_per_sample) * 50'000, 100);
  EXPECT_TRUE(trace.stopped.empty());
}

TEST(Sampler, TakesSoManySingleStepsOrWhatTheTimeAllows) {
  for (const std::size_t wanted : {1U, 7U, 1000U}) {
    ScriptedClock clock(10);
    StopRule rule = rule_for(milliseconds(1));
    rule.steps = wanted;
    std::uint64_t ran = 0;
    Sampler sampler(clock, rule, [&](std::uint64_t steps) {
      ran += steps;
      clock.advance(10'000);
    });
    sampler.calibrate();
    EXPECT_EQ(ran, 0U);
    while (!sampler.done()) sampler.record();
    Trace trace;
    std::move(sampler).finish(trace);
    EXPECT_EQ(trace.steps_per_sample, 1U);
    EXPECT_EQ(ran, trace.samples.size());
    EXPECT_EQ(trace.stop, wanted < 1000 ? StopReason::passes : StopReason::time_cap);
    EXPECT_TRUE(wanted < 1000 ? ran == wanted : ran < wanted) << ran;
  }
}

TEST(Sampler, TimerOverheadIsAtMostOnePercentOfASample) {
  for (std::int64_t cost : {1, 25, 200, 1'000, 20'000}) {
    for (double step : {0.3, 1.2, 95.0, 400.0}) {
      const Trace trace = sample(cost, rule_for(seconds(2)), [=](std::int64_t) { return step; });
      EXPECT_EQ(trace.timer_overhead_ns, cost);
      for (const Sample& s : trace.samples) {
        ASSERT_GE(s.duration_ns, 100 * cost) << "a step " << step << " ns";
      }
      EXPECT_EQ(trace.steps_per_sample % 16, 0U);
    }
  }
}

TEST(Sampler, RecordsForExactlyItsTime) {
  const StopRule rule = rule_for(milliseconds(400));
  const std::function<double(std::int64_t)> kernels[] = {
      [](std::int64_t) { return 80.0; },
      [](std::int64_t t) { return 50 * (1 + static_cast<double>(t) / 400e6); },  // twice as slow
      [](std::int64_t t) { return (t / 30'000'000) % 2 == 0 ? 100.0 : 130.0; }};
  for (const auto& step_ns : kernels) {
    const Trace trace = sample(25, rule, step_ns);
    EXPECT_EQ(trace.stop, StopReason::time_cap);
    EXPECT_GE(recorded_ns(trace), rule.time.count());
    EXPECT_LT(recorded_ns(trace), rule.time.count() + 1'000'000);
  }
  // The reading at the end of a sample counts: less than 1 %.
  const auto summary = summarize(nanoseconds_per_step(sample(25, rule, kernels[0])));
  EXPECT_NEAR(summary->median, 80, 0.8);
}

TEST(Sampler, SamplesFollowEachOther) {
  const Trace trace =
      sample(25, rule_for(milliseconds(200)), [](std::int64_t t) { return 50 + t % 7; });
  for (std::size_t i = 1; i < trace.samples.size(); ++i) {
    ASSERT_GE(trace.samples[i].start_ns,
              trace.samples[i - 1].start_ns + trace.samples[i - 1].duration_ns);
  }
}

TEST(Sampler, LongCapsGiveLongerSamplesNotMore) {
  const Trace trace = sample(25, rule_for(seconds(3600)), [](std::int64_t t) {
    return 50 * (1 + static_cast<double>(t) / 3600e9);
  });
  EXPECT_EQ(trace.stop, StopReason::time_cap);
  EXPECT_LE(trace.samples.size(), 75'000U);
  EXPECT_GE(recorded_ns(trace), seconds(3600) / Nanoseconds(1) * 9 / 10);
}

TEST(Sampler, EndedFromOutsideIsInterrupted) {
  ScriptedClock clock(25);
  Sampler sampler(clock, rule_for(seconds(2)),
                  [&](std::uint64_t steps) { clock.advance(80.0 * static_cast<double>(steps)); });
  sampler.calibrate();
  for (int i = 0; i < 10; ++i) sampler.record();
  EXPECT_FALSE(sampler.done());
  Trace trace;
  std::move(sampler).finish(trace);
  EXPECT_EQ(trace.stop, StopReason::interrupted);
  EXPECT_EQ(trace.samples.size(), 10U);
}

TEST(Sampler, SlowStepsKeepToTheTime) {
  ScriptedClock clock(25);
  // A round trip where two CPUs are emulated by turns; a pair's share of --time.
  const double step_ns = 4e6;
  const StopRule rule = rule_for(milliseconds(40));
  Sampler sampler(
      clock, rule,
      [&](std::uint64_t steps) { clock.advance(step_ns * static_cast<double>(steps)); }, 1);
  const std::int64_t begin = clock.now_ns();
  sampler.calibrate();
  EXPECT_LE(clock.now_ns() - begin, 20'000'000 + 4'000'000) << "half of it, and a step";
  while (!sampler.done()) sampler.record();
  EXPECT_LE(clock.now_ns() - begin, 64'000'000 + 4'000'000);
  Trace trace;
  std::move(sampler).finish(trace);
  EXPECT_EQ(trace.steps_per_sample, 1U);
}

TEST(Sampler, CalibratingEndsWhereStepsAreLongToo) {
  ScriptedClock clock(25);
  int runs = 0;
  Sampler sampler(
      clock, rule_for(milliseconds(20)),
      [&](std::uint64_t) {
        clock.advance(++runs % 2 == 0 ? 1e3 : 12e6);  // quick ones lead on to more steps
      },
      1);
  sampler.calibrate();
  EXPECT_EQ(runs, 3);
}

TEST(Clock, MonotonicSleepsUntilTheTimeAndNotBefore) {
  MonotonicClock clock;
  const std::int64_t until = clock.now_ns() + 3'000'000;
  clock.sleep_until(until);
  EXPECT_GE(clock.now_ns(), until);
}

/// A kernel of 10 ns a step, in samples of 20 us. Once it has done so many steps it stands still
/// for so long.
struct Stall {
  std::uint64_t after_steps;
  double ns;
};

/// `switched`: something else has the CPU meanwhile, and is counted.
Trace stalled(const StopRule& rule, std::vector<Stall> stalls, bool switched, double turns = 1) {
  ScriptedClock clock(20);
  std::uint64_t done = 0;
  Sampler sampler(
      clock, rule,
      [&](std::uint64_t steps) {
        done += steps;
        clock.advance(static_cast<double>(steps) * 10);
        if (stalls.empty() || done < stalls.front().after_steps) return;
        switched ? clock.lose_cpu(stalls.front().ns) : clock.advance(stalls.front().ns);
        stalls.erase(stalls.begin());
      },
      ~std::uint64_t{0}, turns);
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  return trace;
}

TEST(Stops, AreSamplesInWhichTheThreadLostItsCpu) {
  const std::vector<Stall> stalls{
      {1'000'000, 300e3}, {2'000'000, 300e3}, {2'002'500, 300e3}, {3'000'000, 300e3}};
  const Trace trace = stalled(rule_for(milliseconds(500)), stalls, true);
  EXPECT_EQ(trace.stopped.size(), 4U) << "also where one follows the other";
  for (const std::size_t i : trace.stopped) EXPECT_GT(trace.samples[i].duration_ns, 300'000) << i;
  EXPECT_TRUE(stalled(rule_for(milliseconds(500)), stalls, false).stopped.empty())
      << "it ran, slowly";
}

TEST(Stops, OfTheWholeProcessAreCountedByNobody) {
  for (const std::uint64_t after : {100'000U, 10'000'000U}) {
    const Trace trace = stalled(rule_for(milliseconds(500)), {{after, 5e9}}, false);
    ASSERT_EQ(trace.stopped.size(), 1U);
    EXPECT_GT(trace.samples[trace.stopped[0]].duration_ns, 5'000'000'000);
    EXPECT_EQ(trace.samples.size(), trace.stopped[0] + 1) << "the time was over";
  }
}

TEST(Stops, OfShortTimesAreShorter) {
  const std::vector<Stall> stalls{{100'000, 20e6}};
  EXPECT_EQ(stalled(rule_for(milliseconds(20)), stalls, false).stopped.size(), 1U);
  EXPECT_TRUE(stalled(rule_for(milliseconds(500)), stalls, false).stopped.empty())
      << "too little to change its figures";
}

TEST(Stops, TurnsOfSharedCpusAreNone) {
  const std::vector<Stall> stalls{{10'000'000, 300e6}};
  EXPECT_EQ(stalled(rule_for(milliseconds(500)), stalls, false).stopped.size(), 1U);
  EXPECT_TRUE(stalled(rule_for(milliseconds(500)), stalls, false, 64).stopped.empty());
}

TEST(StepsByStretch, SamplesAcrossBordersCountOnBothSides) {
  Trace trace;
  trace.steps_per_sample = 10;
  trace.together_start_ns = 100;
  trace.together_end_ns = 140;
  // Half before the start; across the border of the two stretches; over the end.
  trace.samples = {{90, 20}, {115, 20}, {135, 10}};
  EXPECT_EQ(steps_by_stretch(trace, 2), (std::vector<double>{5 + 2.5, 7.5 + 5}));
  trace.together_end_ns = 100;
  EXPECT_TRUE(steps_by_stretch(trace, 2).empty());
}

TEST(Traces, UsedTheTimeFromTheFirstSampleToTheLast) {
  StopRule rule;
  rule.time = Nanoseconds(1000);
  Trace early, late, load;
  early.samples = {{100, 50}, {160, 50}};
  late.samples = {{120, 300}};
  EXPECT_EQ(time_used({early, late, load}, rule), Nanoseconds(320));
  EXPECT_EQ(time_used({load}, rule), rule.time);
  EXPECT_EQ(time_used({}, rule), rule.time);
}

TEST(Sampler, OneDisturbedRunDoesNotEndTheCalibration) {
  bool first = true;
  const StopRule rule = rule_for(milliseconds(20));
  const Trace trace =
      sample(25, rule, [&](std::int64_t) { return std::exchange(first, false) ? 12e6 / 64 : 2.0; });
  EXPECT_GT(trace.steps_per_sample, 1000u);
}

TEST(Sampler, GoesOnRecordingWhenItIsDone) {
  Trace trace;
  StopRule rule;
  rule.time = std::chrono::milliseconds(200);
  ScriptedClock clock(25);
  Sampler sampler(clock, rule,
                  [&](std::uint64_t steps) { clock.advance(static_cast<double>(steps)); });
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  for (int i = 0; i < 3; ++i) sampler.record();
  std::move(sampler).finish(trace);
  const auto size = trace.samples.size();
  ASSERT_GT(size, 3u);
  EXPECT_GE(trace.samples[size - 1].start_ns,
            trace.samples[size - 2].start_ns + trace.samples[size - 2].duration_ns);
  EXPECT_EQ(trace.stop, StopReason::time_cap);
}

}  // namespace
}  // namespace numatlas

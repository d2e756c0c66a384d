// Flows that were stopped in the middle: what is noted, and what their rates leave out.
#include "engine/pauses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <utility>

#include "base/statistics.h"
#include "engine/sampler.h"

namespace numatlas {
namespace {

using std::chrono::milliseconds;
using Pauses = std::vector<Pause>;

TEST(Pauses, AreMergedAndCut) {
  EXPECT_EQ(merged({{30, 40}, {0, 10}, {5, 20}, {20, 25}, {7, 7}, {0, 0}}),
            (Pauses{{0, 25}, {30, 40}}));
  EXPECT_EQ(within({{0, 25}, {30, 40}}, 20, 35), (Pauses{{20, 25}, {30, 35}}));
  EXPECT_EQ(length_of({{20, 25}, {30, 35}}), 10);
}

TEST(Pauses, WithoutAnyOnlyTheStartsMatter) {
  const CommonTime found = common_time({0, 100}, {}, {}, 25);
  EXPECT_DOUBLE_EQ(found.overlap, 0.75);
  EXPECT_TRUE(found.left_out.empty());
}

// Two flows of 4.0 and 7.3 s, the second stopped from 1 to 6 s: they had 2 of 4 seconds together,
// and not all of them.
TEST(Pauses, OfAnotherFlowAreNoTimeTogether) {
  const Pauses stop{{1000, 6000}};
  const CommonTime first = common_time({0, 4000}, {}, stop, 0);
  EXPECT_DOUBLE_EQ(first.overlap, 0.25);
  const CommonTime second = common_time({0, 7300}, stop, stop, 0);
  EXPECT_DOUBLE_EQ(second.overlap, 1) << "whenever it ran, the first one ran too";
  EXPECT_EQ(second.left_out, stop);
}

TEST(Pauses, ThatLeaveNextToNothingTogetherAreNotLeftOut) {
  // One stood still in the first half, the other one in the second.
  const Pauses own{{0, 500}}, all{{0, 990}};
  EXPECT_EQ(common_time({0, 1000}, own, all, 0).left_out, own);
  EXPECT_EQ(common_time({0, 1000}, own, {{0, 600}}, 0).left_out, (Pauses{{0, 600}}));
}

/// A steady kernel of 10 ns a step under a scripted clock; `stalls` are steps before which it
/// stands still.
struct Stalled {
  std::uint64_t after_steps;
  std::int64_t ns;
};

Trace sample(const StopRule& rule, std::vector<Stalled> stalls, double turns = 1) {
  ScriptedClock clock(20);
  std::uint64_t done = 0;
  Sampler sampler(
      clock, rule,
      [&](std::uint64_t steps) {
        done += steps;
        clock.advance(static_cast<double>(steps) * 10);
        for (Stalled& stall : stalls) {
          if (done < stall.after_steps || stall.ns == 0) continue;
          clock.advance(static_cast<double>(stall.ns));
          stall.ns = 0;
        }
      },
      ~std::uint64_t{0}, turns);
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  const Sample& last = trace.samples.back();
  trace.together_start_ns = trace.samples.front().start_ns;
  trace.together_end_ns = last.start_ns + last.duration_ns;
  trace.left_out = within(merged(trace.pauses), trace.together_start_ns, trace.together_end_ns);
  return trace;
}

StopRule rule_of(Nanoseconds time) {
  StopRule rule;
  rule.time = time;
  return rule;
}

/// Steps a nanosecond over the time together, by its twenty stretches.
std::vector<double> rates_of(const Trace& trace) {
  std::vector<double> rates = steps_by_stretch(trace, 20);
  for (double& rate : rates) rate /= static_cast<double>(trace.together_ns()) / 20;
  return rates;
}

TEST(Pauses, AStopInTheMiddleIsNoted) {
  constexpr std::int64_t stop_ns = 5'000'000'000;
  const Trace trace = sample(rule_of(milliseconds(500)), {{10'000'000, stop_ns}});
  ASSERT_EQ(trace.pauses.size(), 1U);
  const std::int64_t length = trace.pauses[0].end_ns - trace.pauses[0].start_ns;
  EXPECT_GE(length, stop_ns);
  EXPECT_LT(length, stop_ns + 1'000'000) << "and a sample";
  EXPECT_GE(trace.together_ns(), 499'000'000) << "the stop takes nothing of the time to record";
  EXPECT_LT(trace.together_ns(), 510'000'000);
}

// It ended by its time after 50 samples: 1 ms of work in half a second, "0.10 GB/s +-205 %".
TEST(Pauses, TheWindowOfASumDoesNotShrinkToASample) {
  const Trace trace = sample(rule_of(milliseconds(500)), {{100'000, 600'000'000}});
  EXPECT_EQ(trace.pauses.size(), 1U);
  const std::vector<double> rates = rates_of(trace);
  ASSERT_EQ(rates.size(), 20U);
  for (const double rate : rates) EXPECT_NEAR(rate, 0.1, 0.001);
}

TEST(Pauses, ShortTimesHaveShorterPauses) {
  EXPECT_EQ(sample(rule_of(milliseconds(20)), {{100'000, 20'000'000}}).pauses.size(), 1U);
  EXPECT_TRUE(sample(rule_of(milliseconds(500)), {{100'000, 20'000'000}}).pauses.empty())
      << "a turn of the scheduler is part of what is measured";
}

TEST(Pauses, TurnsOfSharedCpusAreNone) {
  const std::vector<Stalled> stalls{{10'000'000, 300'000'000}};
  EXPECT_EQ(sample(rule_of(milliseconds(500)), stalls).pauses.size(), 1U);
  EXPECT_TRUE(sample(rule_of(milliseconds(500)), stalls, 64).pauses.empty());
}

TEST(Pauses, AFlowThatIsStoppedAgainAndAgainEnds) {
  std::vector<Stalled> stalls;
  for (std::uint64_t i = 1; i < 1000; ++i) stalls.push_back({i * 100'000, 200'000'000});
  const Trace trace = sample(rule_of(milliseconds(500)), stalls);
  EXPECT_EQ(trace.pauses.size(), most_pauses);
  EXPECT_LT(trace.samples.size(), 1000U);
}

/// Samples of 20 us, in some of which 300 us more pass. `switched`: something else had the CPU.
std::vector<std::size_t> stopped_in(const std::vector<std::uint64_t>& after_steps, bool switched) {
  ScriptedClock clock(20);
  std::uint64_t done = 0;
  std::vector<std::uint64_t> left = after_steps;
  Sampler sampler(clock, rule_of(milliseconds(500)), [&](std::uint64_t steps) {
    done += steps;
    clock.advance(static_cast<double>(steps) * 10);
    if (left.empty() || done < left.front()) return;
    left.erase(left.begin());
    switched ? clock.lose_cpu(300e3) : clock.advance(300e3);
  });
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  for (const std::size_t i : trace.stopped) EXPECT_GT(trace.samples[i].duration_ns, 300'000) << i;
  return trace.stopped;
}

TEST(Stops, AreSamplesInWhichTheThreadLostItsCpu) {
  const std::vector<std::uint64_t> times{1'000'000, 2'000'000, 2'002'500, 3'000'000};
  EXPECT_EQ(stopped_in(times, true).size(), 4U) << "also where one follows the other";
  EXPECT_TRUE(stopped_in(times, false).empty()) << "it ran, slowly";
}

TEST(Stops, APauseIsOne) {
  const Trace trace = sample(rule_of(milliseconds(500)), {{10'000'000, 5'000'000'000}});
  ASSERT_EQ(trace.stopped.size(), 1U);
  EXPECT_GT(trace.samples[trace.stopped[0]].duration_ns, 5'000'000'000);
}

TEST(Pauses, StretchesFollowEachOtherAcrossThem) {
  Trace trace;
  trace.steps_per_sample = 10;
  for (int i = 0; i < 10; ++i) trace.samples.push_back({i * 100, 100});
  trace.samples[4].duration_ns = 1100;  // 1000 of it stopped
  for (std::size_t i = 5; i < 10; ++i) trace.samples[i].start_ns += 1000;
  trace.together_end_ns = 2000;
  trace.left_out = {{400, 1500}};
  // Nine whole samples in 900 ns; that of the pause is neither time nor steps.
  const std::vector<double> steps = steps_by_stretch(trace, 3);
  ASSERT_EQ(steps.size(), 3U);
  for (const double part : steps) EXPECT_NEAR(part, 30, 1e-9);
  // Without leaving it out there is next to nothing in the middle.
  trace.left_out.clear();
  EXPECT_LT(steps_by_stretch(trace, 3)[1], 10);
}

}  // namespace
}  // namespace numatlas

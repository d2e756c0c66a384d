#include "comm/host_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "comm/test_clocks.h"

namespace numatlas {
namespace {

using std::chrono::abs;
using std::chrono::seconds;

ClockOffset seen(int second, int microseconds, int precision_us) {
  return {std::chrono::microseconds(microseconds), std::chrono::microseconds(precision_us),
          seconds(second)};
}

TEST(HostClock, OfOneOffsetKnowsNoDrift) {
  HostClock clock;
  clock.add(seen(10, 500, 4));
  EXPECT_EQ(clock.drift(), 0);
  EXPECT_EQ(clock.at(seconds(10)), seen(10, 500, 4));
  // As much as quartz clocks may drift: 100 us a second.
  EXPECT_EQ(clock.at(seconds(12)), seen(12, 500, 204));
}

TEST(HostClock, FollowsTheDrift) {
  HostClock clock;
  clock.add(seen(10, 500, 4));
  clock.add(seen(20, 1000, 6));
  EXPECT_DOUBLE_EQ(clock.drift(), 50e-6);
  EXPECT_EQ(clock.at(seconds(15)).offset, std::chrono::microseconds(750));
  EXPECT_EQ(clock.at(seconds(30)).offset, std::chrono::microseconds(1500));
  // 6 us, and 10 us in 10 s that the drift may be wrong by.
  EXPECT_NEAR(static_cast<double>(clock.at(seconds(30)).precision.count()), 16'000, 2);
  EXPECT_NEAR(static_cast<double>(clock.at(seconds(15)).precision.count()), 5'000, 2);
}

TEST(HostClock, AChangeWithinThePrecisionIsNoDrift) {
  HostClock clock;
  clock.add(seen(10, 500, 4));
  clock.add(seen(20, 509, 6));
  EXPECT_EQ(clock.drift(), 0);
  EXPECT_EQ(clock.at(seconds(30)).offset, std::chrono::microseconds(509));
  EXPECT_NEAR(static_cast<double>(clock.at(seconds(30)).precision.count()), 25'000, 2)
      << "but it may be one";
}

TEST(HostClock, OffsetsCloseTogetherTellNoDrift) {
  HostClock clock;
  clock.add(seen(10, 500, 4));
  ClockOffset soon = seen(10, 520, 4);
  soon.at += std::chrono::milliseconds(100);
  clock.add(soon);
  EXPECT_EQ(clock.drift(), 0) << "200 us a second would be wrong";
  EXPECT_EQ(clock.at(soon.at).offset, soon.offset);
}

TEST(HostClock, TellsHowFarOffItMayHaveBeen) {
  HostClock clock;
  clock.add(seen(10, 500, 4));
  EXPECT_EQ(clock.error_since_last(), std::chrono::microseconds(4));
  clock.add(seen(20, 1000, 6));
  EXPECT_EQ(clock.error_since_last(), std::chrono::microseconds(506)) << "the drift was not known";
  clock.add(seen(30, 1503, 5));
  EXPECT_EQ(clock.error_since_last(), std::chrono::microseconds(8)) << "it is now";
}

TEST(HostClocks, OneHostNeedsNone) {
  testing::DriftingHosts hosts({});
  HostClocks clocks(hosts, [&] { return hosts.now(); });
  EXPECT_TRUE(clocks.measure());
  hosts.pass_time(seconds(100));
  EXPECT_FALSE(clocks.due());
  EXPECT_EQ(hosts.questions(), 0);
  EXPECT_EQ(clocks.at(0, hosts.now()).offset, Nanoseconds(0));
  EXPECT_EQ(clocks.error(), Nanoseconds(0));
}

TEST(HostClocks, AreDueAfterFiveSeconds) {
  testing::DriftingHosts hosts({50e-6});
  HostClocks clocks(hosts, [&] { return hosts.now(); });
  ASSERT_TRUE(clocks.measure());
  EXPECT_FALSE(clocks.due());
  hosts.pass_time(seconds(4));
  EXPECT_FALSE(clocks.due());
  hosts.pass_time(seconds(1));
  EXPECT_TRUE(clocks.due());
  ASSERT_TRUE(clocks.measure());
  EXPECT_FALSE(clocks.due());
}

TEST(HostClocks, TakeAHundredthOfTheTimeAtMost) {
  testing::DriftingHosts hosts({50e-6});
  // Each reading of the clock takes a millisecond: 50 questions with two readings each.
  HostClocks clocks(hosts, [&] {
    hosts.pass_time(std::chrono::milliseconds(1));
    return hosts.now();
  });
  ASSERT_TRUE(clocks.measure());
  hosts.pass_time(seconds(8));
  EXPECT_FALSE(clocks.due());
  hosts.pass_time(seconds(3));
  EXPECT_TRUE(clocks.due());
}

TEST(HostClocks, HoldWhileHostsDrift) {
  testing::DriftingHosts hosts({50e-6, -50e-6});
  HostClocks clocks(hosts, [&] { return hosts.now(); });
  ASSERT_TRUE(clocks.measure());
  Nanoseconds worst{0};
  for (int start = 0; start < 200; ++start) {
    hosts.pass_time(std::chrono::milliseconds(300));
    if (clocks.due()) {
      ASSERT_TRUE(clocks.measure());
    }
    for (const int host : {1, 2}) {
      const ClockOffset known = clocks.at(host, hosts.now());
      const Nanoseconds off = abs(known.offset - hosts.true_offset(host, hosts.now()));
      EXPECT_LE(off, known.precision) << "start " << start << " host " << host;
      worst = std::max(worst, off);
    }
  }
  ASSERT_TRUE(clocks.measure());
  EXPECT_LE(worst, clocks.error()) << "what is told has all that happened";
  EXPECT_LT(clocks.error(), std::chrono::microseconds(400)) << "and not much more";
}

}  // namespace
}  // namespace numatlas

#include "kernels/group_times.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

std::uint64_t groups_of(const GroupTimes& times) {
  return std::accumulate(times.counts.begin(), times.counts.end(), times.interrupted);
}

TEST(GroupTimes, BinsAreAsFineAsTheySay) {
  std::size_t before = 0;
  for (std::uint64_t ticks = 1; ticks < (std::uint64_t{1} << 40); ticks += 1 + ticks / 200) {
    const std::size_t bin = GroupTimes::bin_of(ticks);
    ASSERT_LT(bin, GroupTimes::bin_count);
    ASSERT_LE(before, bin) << ticks;
    ASSERT_LE(bin, before + 1) << "no bin is left out at " << ticks;
    before = bin;
    const double middle = GroupTimes::middle_of(bin);
    ASSERT_NEAR(middle, static_cast<double>(ticks), static_cast<double>(ticks) / 128) << ticks;
  }
  EXPECT_LT(GroupTimes::bin_of(~std::uint64_t{0}), GroupTimes::bin_count);
}

TEST(GroupTimes, TheTimerIsNoPartOfThem) {
  GroupTimes times;
  times.timer_ticks = 40;
  times.ns_per_tick = 0.5;
  times.add(100, false);
  times.add(100, true);
  times.add(10, false);
  const auto found = times.times();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].first, 0.5) << "never nothing";
  EXPECT_DOUBLE_EQ(found[1].first, 30);
  EXPECT_EQ(found[1].second, 1U) << "what was interrupted is in no bin";
  EXPECT_EQ(times.interrupted, 1U);
}

TEST(GroupTimes, AChaseTimesEachGroupOnce) {
  for (const unsigned loads : {1U, 8U, most_tail_group}) {
    KernelSpec spec{ChaseParameters{}};
    spec.as<ChaseParameters>().tail_group = loads;
    std::vector<std::byte> memory(1 << 20);
    const auto kernel = make_kernel(spec);
    ASSERT_TRUE(kernel->prepare({memory.data(), memory.size()}));
    kernel->run(1000);
    kernel->count_anew();
    kernel->run(std::uint64_t{200} * loads + loads - 1);
    const auto times = kernel->group_times();
    ASSERT_TRUE(times);
    EXPECT_EQ(times->loads, loads);
    EXPECT_EQ(groups_of(*times), 200U) << "none of those before";
    EXPECT_GT(times->timer_ticks, 0);
    EXPECT_GT(times->ns_per_tick, 0);
    EXPECT_GT(times->overhead_ns, 0);
  }
}

TEST(GroupTimes, OtherChasesHaveNone) {
  std::vector<std::byte> memory(1 << 16);
  const auto kernel = make_kernel({ChaseParameters{}});
  ASSERT_TRUE(kernel->prepare({memory.data(), memory.size()}));
  kernel->count_anew();
  kernel->run(100);
  EXPECT_FALSE(kernel->group_times());
  KernelSpec both{ChaseParameters{}};
  both.as<ChaseParameters>().tail_group = 8;
  both.as<ChaseParameters>().chains = 2;
  EXPECT_FALSE(check_size(both, Bytes{1 << 20}));
}

}  // namespace
}  // namespace numatlas

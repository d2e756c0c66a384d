// Counters that several threads add to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t adders = 3, additions = 20'000;

struct Team {
  std::vector<std::byte> bytes;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::byte* start = nullptr;
};

/// Kernels of all adders over one memory; all have added.
Team added(const std::string& operation, Sharing sharing) {
  Team team;
  team.bytes.resize(counter_bytes(adders).value + 64);
  const auto address = reinterpret_cast<std::uintptr_t>(team.bytes.data());
  team.start = team.bytes.data() + (64 - address % 64) % 64;
  for (std::uint64_t worker = 0; worker < adders; ++worker) {
    const CounterParameters counter{operation == "compare-exchange", sharing, worker, adders};
    team.kernels.push_back(make_kernel({counter}));
    KernelMemory memory{team.start, counter_bytes(adders).value};
    memory.filled = worker > 0;
    EXPECT_TRUE(team.kernels.back()->prepare(memory));
  }
  std::vector<std::thread> threads;
  for (const auto& kernel : team.kernels)
    threads.emplace_back([&kernel] { kernel->run(additions); });
  for (std::thread& thread : threads) thread.join();
  return team;
}

class EveryCounter : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operations, EveryCounter,
                         ::testing::Values("fetch-add", "compare-exchange"));

TEST_P(EveryCounter, HoldsEachAdditionAndNothingElse) {
  for (const Sharing sharing : all_sharings) {
    Team team = added(GetParam(), sharing);
    for (const auto& kernel : team.kernels) {
      EXPECT_TRUE(kernel->verify()) << name_of(sharing);
      ASSERT_EQ(kernel->counts().size(), 1U);
      EXPECT_EQ(kernel->counts()[0].key, "attempts");
      EXPECT_GE(kernel->counts()[0].each, 1);
    }
    // One is lost.
    std::uint64_t counter = 0;
    std::byte* const first = team.start + counter_bytes(adders).value / 2;
    std::memcpy(&counter, first, sizeof counter);
    EXPECT_EQ(counter, sharing == Sharing::same ? adders * additions : additions);
    --counter;
    std::memcpy(first, &counter, sizeof counter);
    const auto wrong = team.kernels.front()->verify();
    ASSERT_FALSE(wrong) << name_of(sharing);
    EXPECT_EQ(wrong.error().kind, ErrorKind::internal);
    EXPECT_THAT(wrong.error().message, HasSubstr("kernel " + GetParam() + ": the counter is at " +
                                                 std::to_string(counter)));
  }
}

TEST(Counters, LieWhereTheySay) {
  const auto words_that_count = [](Sharing sharing) {
    Team team = added("fetch-add", sharing);
    std::vector<std::size_t> offsets;
    const std::size_t half = counter_bytes(adders).value / 2;
    for (std::size_t at = 0; at < half; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, team.start + half + at, sizeof word);
      if (word > 0) offsets.push_back(at);
    }
    return offsets;
  };
  EXPECT_THAT(words_that_count(Sharing::same), ::testing::ElementsAre(0));
  EXPECT_THAT(words_that_count(Sharing::neighbours), ::testing::ElementsAre(0, 8, 16));
  EXPECT_THAT(words_that_count(Sharing::own), ::testing::ElementsAre(0, 256, 512));
}

TEST(Counters, NeedRoomForAllWorkers) {
  const auto small = check_size({CounterParameters{false, Sharing::own, 0, 100}}, Bytes{4096});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("do not hold the counters of 100 workers"));
}

}  // namespace
}  // namespace numatlas

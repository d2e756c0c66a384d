// Random accesses, gathers and scatters: what they leave, and where they go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::uint64_t>;

/// A kernel over some words.
struct OnWords {
  OnWords(KernelParameters parameters, std::size_t count, std::uint64_t seed = 1)
      : words(count + 8), kernel(make_kernel({parameters, Stores::regular, seed})) {
    const auto address = reinterpret_cast<std::uintptr_t>(words.data());
    start = words.data() + (64 - address % 64) % 64 / 8;
    const auto done = kernel->prepare({reinterpret_cast<std::byte*>(start), count * 8});
    EXPECT_TRUE(done) << full_text(done.error());
  }
  std::string error() const {
    const auto right = kernel->verify();
    return right ? "" : full_text(right.error());
  }
  Words words;
  std::unique_ptr<Kernel> kernel;
  std::uint64_t* start = nullptr;
};

RandomParameters random(Access access, unsigned bytes = 8) { return {access, bytes}; }

TEST(RandomAccess, OfAnySizeLeavesWhatItSays) {
  for (const Access access : {Access::read, Access::write, Access::update, Access::atomic}) {
    for (unsigned bytes = 8; bytes <= longest_access; bytes *= 2) {
      OnWords on(random(access, bytes), 1000);
      EXPECT_EQ(on.error(), "") << "before the first step";
      for (const std::uint64_t steps : {1U, 2U, 5000U, 7U}) {
        on.kernel->run(steps);
        EXPECT_EQ(on.error(), "") << on.kernel->steps_per_pass() << " " << bytes;
      }
      on.start[11] += 1;
      EXPECT_THAT(on.error(), HasSubstr("1 of "));
    }
  }
}

TEST(RandomAccess, WhatWasReadIsAddedUp) {
  OnWords on(random(Access::read, 64), 64);
  on.start[11] += 1;
  on.kernel->run(100);
  on.start[11] -= 1;
  EXPECT_THAT(on.error(), HasSubstr("the sum of what was read"));
}

TEST(RandomAccess, AWriteThatDidNotArriveIsFound) {
  OnWords on(random(Access::write), 64);
  on.kernel->run(1000);
  EXPECT_EQ(on.start[5], ~std::uint64_t{5});
  on.start[5] = 5;
  EXPECT_THAT(on.error(), HasSubstr("kernel random-write: 1 of 64 words are wrong"));
}

TEST(RandomAccess, UpdatesChangeEachWordOfTheirAccesses) {
  for (const Access access : {Access::update, Access::atomic}) {
    for (const unsigned bytes : {8U, 64U}) {
      constexpr std::size_t words = 1'000'000;  // so many that no two accesses meet
      OnWords on(random(access, bytes), words);
      on.kernel->run(3);
      std::size_t changed = 0;
      for (std::size_t i = 0; i + 8 < words; ++i) changed += on.start[i] == i ? 0 : 1;
      EXPECT_EQ(changed, 3 * bytes / 8);
      EXPECT_EQ(on.error(), "");
    }
  }
}

TEST(RandomAccess, AtomicUpdatesOfSeveralWorkersAreUndoneByAll) {
  constexpr std::uint64_t workers = 3;
  for (const bool damaged : {false, true}) {
    RandomParameters shared = random(Access::atomic, 16);
    shared.workers = workers;
    OnWords on(shared, 256);
    std::vector<std::unique_ptr<Kernel>> kernels;
    kernels.push_back(std::move(on.kernel));
    for (std::uint64_t worker = 1; worker < workers; ++worker) {
      kernels.push_back(make_kernel({shared, Stores::regular, worker + 1}));
      KernelMemory memory{reinterpret_cast<std::byte*>(on.start), 256 * 8};
      memory.filled = true;
      ASSERT_TRUE(kernels.back()->prepare(memory));
    }
    for (int visit = 0; visit < 2; ++visit) {
      std::vector<std::thread> threads;
      for (const auto& kernel : kernels) threads.emplace_back([&kernel] { kernel->run(20'000); });
      for (std::thread& thread : threads) thread.join();
      if (damaged) on.start[3] += 1;
      EXPECT_TRUE(kernels[0]->verify());
      EXPECT_TRUE(kernels[1]->verify());
      const auto last = kernels[2]->verify();
      EXPECT_EQ(last.has_value(), !damaged);
    }
  }
}

/// The places of single writes, one after the other.
std::vector<std::size_t> places(std::size_t count, std::size_t accesses, std::uint64_t seed) {
  OnWords on(random(Access::write), count, seed);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < accesses; ++i) {
    on.kernel->run(1);
    std::size_t place = 0;
    while (on.start[place] == place) ++place;
    places.push_back(place);
    EXPECT_EQ(on.error(), "") << "and puts it back";
  }
  return places;
}

/// Chi-square of how often each cell comes.
double chi_square(const std::vector<std::size_t>& cells, std::size_t count) {
  std::vector<double> found(count);
  for (const std::size_t cell : cells) found[cell] += 1;
  const double expected = static_cast<double>(cells.size()) / static_cast<double>(count);
  double sum = 0;
  for (const double one : found) sum += (one - expected) * (one - expected) / expected;
  return sum;
}

TEST(RandomPlaces, AreUniformAndIndependent) {
  constexpr std::size_t count = 256;
  const auto first = places(count, 25'600, 1), second = places(count, 25'600, 2);
  // 255 degrees of freedom: mean 255, standard deviation 22.6; within four of them.
  EXPECT_NEAR(chi_square(first, count), 255, 90);
  EXPECT_NEAR(chi_square(second, count), 255, 90);
  for (const std::size_t lag : {1U, 2U, 7U, 64U}) {
    std::vector<std::size_t> pairs;
    for (std::size_t i = lag; i < first.size(); ++i)
      pairs.push_back(first[i - lag] / 16 * 16 + first[i] / 16);
    EXPECT_NEAR(chi_square(pairs, count), 255, 90) << "pairs " << lag << " apart";
  }
  std::vector<std::size_t> pairs;
  for (std::size_t i = 0; i < first.size(); ++i)
    pairs.push_back(first[i] / 16 * 16 + second[i] / 16);
  EXPECT_NEAR(chi_square(pairs, count), 255, 90) << "two workers";
}

TEST(RandomPlaces, FillAnyNumber) {
  // No power of two: all of them come, and none beyond.
  EXPECT_NEAR(chi_square(places(100, 10'000, 1), 100), 99, 57);
}

PatternParameters pattern(Access access, Words indices, std::uint64_t delta) {
  return {access, std::move(indices), delta};
}

TEST(Patterns, GatherAndScatterWhatTheirIndicesName) {
  for (const Access access : {Access::gather, Access::scatter}) {
    for (const auto& [delta, indices] : {std::pair<std::uint64_t, Words>{1, {0, 8, 3, 16, 3, 40}},
                                         {8, {0, 8, 3, 16, 3, 40}},
                                         {57, {0, 8, 3, 16, 3, 40}},
                                         {5, {7, 0, 8, 3, 16, 3, 40, 2}}}) {
      OnWords on(pattern(access, indices, delta), 1000);
      EXPECT_EQ(on.kernel->steps_per_pass(), (1000 - 41) / delta + 1);
      for (const std::uint64_t steps : {1U, 2U, 1000U, 7U}) {
        on.kernel->run(steps);
        EXPECT_EQ(on.error(), "") << delta;
      }
      on.kernel->run(1);
      if (access == Access::scatter) {
        EXPECT_EQ(on.start[40], ~std::uint64_t{40});
        EXPECT_EQ(on.start[1], 1U);
      }
      on.start[8] += 1;
      EXPECT_THAT(on.error(), HasSubstr("1 of 1000 words are wrong"));
    }
  }
}

TEST(Patterns, WhatWasGatheredIsAddedUp) {
  for (const Words& indices : {Words{0, 8}, Words{0, 8, 1, 2, 3, 4, 5, 6}}) {
    for (const std::uint64_t steps : {1U, 2U}) {
      OnWords on(pattern(Access::gather, indices, 1), 100);
      on.start[8] += 1;
      on.kernel->run(steps);
      on.start[8] -= 1;
      EXPECT_THAT(on.error(), HasSubstr("the sum of what was read"));
    }
  }
}

TEST(Patterns, SayWhatTheyUseOfALine) {
  EXPECT_DOUBLE_EQ(used_share(pattern(Access::gather, {0, 1, 2, 3, 4, 5, 6, 7}, 8)), 1);
  EXPECT_DOUBLE_EQ(used_share(pattern(Access::gather, {0, 8, 16, 24}, 32)), 0.125);
  EXPECT_DOUBLE_EQ(used_share(pattern(Access::gather, {0, 2, 4, 6}, 8)), 0.5);
  EXPECT_NEAR(used_share(pattern(Access::gather, {0, 1, 2}, 1)), 1, 0.01) << "a stencil moves on";
}

TEST(Patterns, MustNotLeaveTheMemory) {
  const KernelSpec spec{pattern(Access::gather, {0, 1000}, 1)};
  EXPECT_TRUE(check_size(spec, Bytes{1001 * 8}));
  const auto outside = check_size(spec, Bytes{1000 * 8});
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().kind, ErrorKind::usage);
  EXPECT_THAT(full_text(outside.error()),
              HasSubstr("--pattern: its largest index, 1000, is outside the memory"));
  const KernelSpec apart{pattern(Access::gather, {0, 1}, 999)};
  EXPECT_TRUE(check_size(apart, Bytes{1001 * 8}));
  const auto far = check_size(apart, Bytes{1000 * 8});
  ASSERT_FALSE(far);
  EXPECT_THAT(full_text(far.error()), HasSubstr("--delta: the second start, 999 words behind"));
}

TEST(RandomAccess, MovesWholeLines) {
  EXPECT_EQ(traffic_per_step({random(Access::read)}).read, 64U);
  EXPECT_EQ(traffic_per_step({random(Access::read, 256)}).counted(), 256U);
  EXPECT_EQ(traffic_per_step({random(Access::update)}).with_allocate(), 128U);
  EXPECT_EQ(traffic_per_step({random(Access::write)}).with_allocate(), 128U);
}

}  // namespace
}  // namespace numatlas

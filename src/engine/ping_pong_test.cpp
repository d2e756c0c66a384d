// Lines that two threads hand to each other: every turn is taken once, in the lines' order.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

constexpr std::size_t spacing = 256;  // bytes from line to line, in words below

class PingPong : public ::testing::TestWithParam<const char*> {};

TEST_P(PingPong, TakesItsLinesInTurnAndCountsEveryRound) {
  constexpr std::uint64_t rounds = 2000;
  for (const unsigned lines : {1U, 3U, 16U}) {
    KernelSpec spec = kernel_named(GetParam());
    spec.as<PingPongParameters>().lines = lines;
    std::vector<std::uint64_t> words(ping_pong_bytes(lines).value / sizeof(std::uint64_t));
    const KernelMemory memory{reinterpret_cast<std::byte*>(words.data()),
                              words.size() * sizeof(std::uint64_t)};
    const auto asks = make_kernel(spec);
    spec.as<PingPongParameters>().answers = true;
    const auto answers = make_kernel(spec);
    ASSERT_TRUE(asks->prepare(memory));
    ASSERT_TRUE(answers->prepare(memory));
    std::atomic<bool> done{false};
    std::thread other([&] {
      while (!done) answers->run(100);
    });
    asks->run(rounds);
    done = true;
    other.join();
    answers->run(1);  // the last word may not have been answered
    EXPECT_TRUE(asks->verify());
    // 256 rounds in a line before the next one; a round ends with an even turn.
    std::vector<std::uint64_t> wanted(lines, 0);
    for (std::uint64_t round = 0; round < rounds; ++round)
      wanted[lines == 1 ? 0 : round / 256 % lines] = 2 * round + 2;
    for (unsigned line = 0; line < lines; ++line)
      EXPECT_EQ(words[line * spacing / sizeof(std::uint64_t)], wanted[line]) << line;
    // A turn that was taken twice is seen.
    words[(lines == 1 ? 0 : (rounds - 1) / 256 % lines) * spacing / sizeof(std::uint64_t)] += 2;
    EXPECT_FALSE(asks->verify()) << lines;
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, PingPong, ::testing::Values("cas", "store"));

TEST(PingPongSize, HoldsAllLines) {
  const KernelSpec spec{PingPongParameters{.lines = 33}};
  EXPECT_FALSE(check_size(spec, Bytes{4096}));
  EXPECT_TRUE(check_size(spec, ping_pong_bytes(33)));
}

}  // namespace
}  // namespace numatlas

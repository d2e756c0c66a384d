#include "kernels/chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace numatlas {
namespace {

/// Steps until line 0 comes round again, visiting each line once at most; 0 when some line repeats.
std::uint64_t cycle_length(const ChainLayout& layout) {
  std::vector<bool> seen(layout.lines());
  std::uint64_t line = 0;
  for (std::uint64_t steps = 1; steps <= layout.lines(); ++steps) {
    line = layout.successor(line);
    if (line >= layout.lines() || seen[line]) return 0;
    seen[line] = true;
    if (line == 0) return steps;
  }
  return 0;
}

constexpr std::uint64_t guard = 0x5A5A5A5A5A5A5A5A;

struct Case {
  ChainOrder order;
  std::uint64_t bytes;
  std::uint64_t stride;
};

TEST(Chain, OfAnyFewLinesIsOneCycle) {
  for (ChainOrder order : all_chain_orders) {
    for (std::uint64_t lines = 2; lines <= 70; ++lines) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto layout =
            ChainLayout::make(Bytes{lines * 1024}, {order, Bytes{1024}, Bytes{4096}}, seed);
        EXPECT_EQ(cycle_length(*layout), lines) << name_of(order) << " seed " << seed;
      }
    }
  }
}

class EveryChain : public testing::TestWithParam<Case> {};

TEST_P(EveryChain, IsOneCycleThroughAllLinesInMemoryToo) {
  const auto& [order, bytes, stride] = GetParam();
  for (std::uint64_t seed : {1u, 2u, 77u}) {
    const auto layout = ChainLayout::make(Bytes{bytes}, {order, Bytes{stride}, Bytes{4096}}, seed);
    ASSERT_TRUE(layout) << full_text(layout.error());
    EXPECT_EQ(cycle_length(*layout), layout->lines());
    // Both on a line's boundary (streamed whole lines) and off it (single stores), with a guard.
    std::vector<std::uint64_t> memory(bytes / 8 + 17, guard);
    auto* base = reinterpret_cast<std::byte*>(memory.data());
    while ((reinterpret_cast<std::uintptr_t>(base) % 64 == 0) != (seed != 2)) base += 8;
    build_chain(base, *layout);
    EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(base + bytes / 8 * 8), guard);
    EXPECT_TRUE(prove_chain(base, *layout));
    EXPECT_TRUE(walk_chain(base, *layout));
    EXPECT_EQ(chase(base, layout->lines()), base);
    EXPECT_NE(chase(base, layout->lines() - 1), base);
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (ChainOrder order : {ChainOrder::random, ChainOrder::page_local, ChainOrder::sequential}) {
    for (std::uint64_t bytes :
         {128u, 192u, 320u, 4096u, 4160u, 48u * 1024, 65536u, 100'000u, 1'000'064u, 1u << 20}) {
      for (std::uint64_t stride : {8u, 64u, 128u, 192u, 4096u, 5000u}) {
        if (bytes / stride >= 2) cases.push_back({order, bytes, stride});
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Chain, EveryChain, testing::ValuesIn(all_cases()));

TEST(Chain, CursorsStartFarApartAndTogetherWalkWhatOneWouldWalk) {
  for (ChainOrder order : all_chain_orders) {
    for (unsigned chains : {2U, 3U, 8U, 17U, most_chains}) {
      const ChainSpec spec{order, Bytes{64}, Bytes{4096}, chains};
      const std::uint64_t bytes = 1'000'000;
      const auto layout = ChainLayout::make(Bytes{bytes}, spec, 3);
      ASSERT_TRUE(layout) << full_text(layout.error());
      std::vector<std::uint64_t> memory(bytes / 8);
      auto* base = reinterpret_cast<std::byte*>(memory.data());
      build_chain(base, *layout);
      std::vector<const void*> at;
      for (unsigned part = 0; part < chains; ++part)
        at.push_back(base + layout->start_of(part, chains) * layout->stride());
      // Steps from one start until another one comes: the least of them is no small part of the
      // cycle.
      const std::set<const void*> starts(at.begin(), at.end());
      EXPECT_EQ(starts.size(), chains);
      std::uint64_t since = 0, least = layout->lines();
      const void* position = at[0];
      for (std::uint64_t step = 0; step < layout->lines(); ++step) {
        position = chase(position, 1);
        ++since;
        if (!starts.contains(position)) continue;
        least = std::min(least, since);
        since = 0;
      }
      EXPECT_GE(least, layout->lines() / chains / 3) << name_of(order) << " " << chains;
      std::vector<const void*> alone;
      for (const void* start : at) alone.push_back(chase(start, 1000));
      chase_together(at, 999);
      EXPECT_NE(at, alone);
      chase_together(at, 1);
      EXPECT_EQ(at, alone);
      for (const void* start : starts) {
        EXPECT_EQ(touch_ahead(base, *layout, start, 0), start);
        EXPECT_EQ(touch_ahead(base, *layout, start, 1000), chase(start, 1000));
      }
    }
  }
}

TEST(Chain, MoreChainsThanTheCycleHasRoomForNameTheOption) {
  const auto error = [](ChainOrder order, std::uint64_t bytes, unsigned chains) {
    const auto layout = ChainLayout::make(Bytes{bytes}, {order, Bytes{64}, Bytes{4096}, chains});
    return layout ? "" : full_text(layout.error());
  };
  EXPECT_EQ(error(ChainOrder::random, 64 * 16, 8), "");
  EXPECT_NE(error(ChainOrder::random, 64 * 15, 8).find("--chains: 8 chains need 16 nodes"),
            std::string::npos);
  EXPECT_EQ(error(ChainOrder::page_local, 4096 * 16, 8), "");
  EXPECT_NE(error(ChainOrder::page_local, 4096 * 15, 8).find("--chains: 8 chains need 16 pages"),
            std::string::npos);
  EXPECT_NE(error(ChainOrder::random, 1 << 20, most_chains + 1).find("--chains"),
            std::string::npos);
}

TEST(Chain, ProofFindsAnyCorruptedNode) {
  for (ChainOrder order : {ChainOrder::random, ChainOrder::page_local, ChainOrder::sequential}) {
    const auto layout = ChainLayout::make(Bytes{200'000}, {order, Bytes{64}, Bytes{4096}}, 5);
    std::vector<std::uint64_t> memory(200'000 / 8, 0);
    auto* base = reinterpret_cast<std::byte*>(memory.data());
    build_chain(base, *layout);
    for (std::uint64_t line : {std::uint64_t{0}, std::uint64_t{1500}, layout->lines() - 1}) {
      const std::uint64_t right = memory[line * 8];
      // Another node, itself, half a node further, outside.
      for (std::uint64_t wrong :
           {reinterpret_cast<std::uint64_t>(base) + 64 * 7,
            reinterpret_cast<std::uint64_t>(base) + 64 * line, right + 8, std::uint64_t{0}}) {
        if (wrong == right) continue;
        memory[line * 8] = wrong;
        const auto proof = prove_chain(base, *layout);
        ASSERT_FALSE(proof) << name_of(order) << " line " << line;
        EXPECT_NE(full_text(proof.error()).find("line " + std::to_string(line)), std::string::npos);
      }
      memory[line * 8] = right;
    }
    EXPECT_TRUE(prove_chain(base, *layout));
  }
}

TEST(Chain, ProofFindsTwoCyclesOfTheRightTotalLength) {
  const auto layout = ChainLayout::make(Bytes{64 * 64}, {});
  std::vector<std::uint64_t> memory(64 * 8, 0);
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  build_chain(base, *layout);
  std::swap(memory[3 * 8], memory[40 * 8]);  // splits the cycle in two
  EXPECT_FALSE(prove_chain(base, *layout));
  EXPECT_FALSE(walk_chain(base, *layout));
}

TEST(Chain, PageLocalFinishesAPageBeforeTheNext) {
  const auto layout =
      ChainLayout::make(Bytes{64 * 4096}, {ChainOrder::page_local, Bytes{64}, Bytes{4096}}, 9);
  std::uint64_t line = 0;
  std::uint64_t changes = 0;
  std::set<std::vector<std::uint64_t>> orders;
  std::vector<std::uint64_t> current;
  for (std::uint64_t step = 0; step < layout->lines(); ++step) {
    const std::uint64_t next = layout->successor(line);
    current.push_back(line % 64);
    if (next / 64 != line / 64) {
      ++changes;
      orders.insert(std::exchange(current, {}));
    }
    line = next;
  }
  EXPECT_EQ(changes, 64u);
  EXPECT_GT(orders.size(), 32u) << "pages are walked in the same order";
}

TEST(Chain, RandomOrderLeavesThePageNearlyAlways) {
  const auto layout = ChainLayout::make(Bytes{16 << 20}, {});
  std::uint64_t line = 0;
  std::uint64_t same_page = 0;
  for (int step = 0; step < 10000; ++step) {
    const std::uint64_t next = layout->successor(line);
    same_page += next / 64 == line / 64 ? 1 : 0;
    line = next;
  }
  EXPECT_LT(same_page, 30u);  // 4096 pages: 2.4 expected
}

TEST(Chain, VectorAndScalarSuccessorsAgree) {
  for (std::uint64_t n : {2u, 3u, 17u, 1000u, 1024u, 1025u, 65537u}) {
    const Permutation order(n, 42);
    std::vector<std::uint32_t> next(Permutation::batch_size);
    for (std::uint64_t first = 0; first < n; first += next.size()) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(next.size(), n - first));
      order.successors(first, count, next.data());
      for (std::uint32_t i = 0; i < count; ++i) {
        std::uint64_t rank = order.rank_of(first + i);
        ASSERT_EQ(next[i], order.next(rank)) << "n " << n << " item " << first + i;
      }
      EXPECT_EQ(order.count_wrong(first, count, next.data()), 0u);
      next[count / 2] = (next[count / 2] + 1) % static_cast<std::uint32_t>(n);
      EXPECT_GT(order.count_wrong(first, count, next.data()), 0u);
    }
  }
}

TEST(Chain, BadStrideAndTinySizeNameTheOption) {
  EXPECT_NE(
      full_text(
          ChainLayout::make(Bytes{4096}, {ChainOrder::random, Bytes{12}, Bytes{4096}}).error())
          .find("--stride"),
      std::string::npos);
  EXPECT_NE(full_text(ChainLayout::make(Bytes{64}, {}).error()).find("--size"), std::string::npos);
  EXPECT_NE(full_text(parse_chain_order("rnd").error()).find("'rnd' is not an order"),
            std::string::npos);
}

}  // namespace
}  // namespace numatlas

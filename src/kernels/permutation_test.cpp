// The orders of chains against those that a Fisher-Yates shuffle makes: a chain that a prefetcher
// or a cache sees through is one whose figures differ from those of all shuffles.
#include "kernels/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <list>
#include <numeric>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/chain.h"

namespace numatlas {
namespace {

using Lines = std::vector<std::uint64_t>;

struct Walked {
  const char* name;
  std::uint64_t lines;
  ChainSpec spec = {};

  std::uint64_t bytes() const { return lines * spec.stride.value; }
  std::uint64_t page_bytes() const { return std::min(std::uint64_t{4096}, bytes() / 16); }
  /// At least half of a small chain, so that cursors do not reach each other's starts.
  std::uint64_t steps() const {
    return std::min<std::uint64_t>(spec.chains == 1 ? lines : lines / 2, 16384);
  }
  /// All 200 of short walks; of long ones as many as take the same time.
  unsigned seeds() const {
    return static_cast<unsigned>(std::clamp<std::uint64_t>((1 << 18) / steps(), 16, 200));
  }
};

void PrintTo(const Walked& walked, std::ostream* out) { *out << walked.name; }

ChainSpec spec_of(ChainOrder order, std::uint64_t stride, unsigned chains = 1) {
  return {order, Bytes{stride}, Bytes{4096}, chains};
}

const Walked walked_chains[] = {
    {"64 lines", 64},
    {"100 lines", 100},
    {"777 lines", 777},
    {"2,048 lines", 2048},
    {"5,000 lines", 5000},
    {"16,384 lines", 16384},
    {"100,000 lines", 100'000},
    {"2^20 lines", 1 << 20},
    {"stride 192", 3000, spec_of(ChainOrder::random, 192)},
    {"stride 4160, as tlb", 1536, spec_of(ChainOrder::random, 4160)},
    {"page-local", 5010, spec_of(ChainOrder::page_local, 64)},
    {"page-local, stride 512", 1003, spec_of(ChainOrder::page_local, 512)},
    {"8 chains", 20'000, spec_of(ChainOrder::random, 64, 8)},
};

/// The lines in the order in which the cursors load them.
Lines walk(const Walked& walked, std::uint64_t seed) {
  const ChainSpec& spec = walked.spec;
  const auto layout = ChainLayout::make(Bytes{walked.bytes()}, spec, seed);
  std::vector<std::uint64_t> ranks;
  Lines lines;
  for (unsigned part = 0; part < spec.chains; ++part) {
    lines.push_back(
        layout->start_of(part, std::max(spec.chains, 2U)));  // of 2 and more: a page's first
    ranks.push_back(layout->rank_of(lines.back()));
  }
  while (lines.size() < walked.steps()) {
    for (std::uint64_t& rank : ranks) lines.push_back(layout->next(rank));
  }
  return lines;
}

using Random = std::mt19937_64;

/// Brings `count` lines to the front as Fisher and Yates do; what was shuffled before stays
/// shuffled.
void shuffle(std::span<std::uint64_t> lines, std::uint64_t count, Random& random) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, lines.size() - 1); ++i) {
    std::uniform_int_distribution<std::uint64_t> pick(i, lines.size() - 1);
    std::swap(lines[i], lines[pick(random)]);
  }
}

/// Shuffled lines, of page-local chains shuffled pages of shuffled lines. `all` is kept from one
/// call to the next.
Lines shuffled(const Walked& walked, Lines& all, Random& random) {
  if (all.empty()) {
    all.resize(walked.lines);
    std::iota(all.begin(), all.end(), 0);
  }
  if (walked.spec.order == ChainOrder::random) {
    shuffle(all, walked.steps(), random);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(walked.steps())};
  }
  const std::uint64_t window = walked.spec.page.value / walked.spec.stride.value;
  Lines pages((walked.lines + window - 1) / window);
  std::iota(pages.begin(), pages.end(), 0);
  shuffle(pages, pages.size(), random);
  Lines lines;
  for (std::uint64_t page : pages) {
    const std::span of_page =
        std::span(all).subspan(page * window, std::min(window, walked.lines - page * window));
    shuffle(of_page, of_page.size(), random);
    lines.insert(lines.end(), of_page.begin(), of_page.end());
  }
  return lines;
}

/// Share of the loads whose page is among the last `capacity` different ones.
double lru_hits(std::span<const std::uint64_t> pages, std::uint64_t capacity) {
  std::list<std::uint64_t> recent;
  std::vector<std::list<std::uint64_t>::iterator> place(
      *std::max_element(pages.begin(), pages.end()) + 1, recent.end());
  std::uint64_t hits = 0;
  for (std::uint64_t page : pages) {
    if (place[page] != recent.end()) {
      ++hits;
      recent.erase(place[page]);
    } else if (recent.size() == capacity) {
      place[recent.back()] = recent.end();
      recent.pop_back();
    }
    recent.push_front(page);
    place[page] = recent.begin();
  }
  return static_cast<double>(hits) / static_cast<double>(pages.size());
}

double different_strides(const Walked& walked, std::span<const std::uint64_t> lines) {
  std::vector<bool> seen(2 * walked.lines);
  for (std::size_t i = 1; i < lines.size(); ++i)
    seen[lines[i] + walked.lines - lines[i - 1]] = true;
  return static_cast<double>(std::count(seen.begin(), seen.end(), true));
}

/// Sets of a cache of 64 sets that 64 loads in turn need: the mean.
double sets_hit(const Walked& walked, std::span<const std::uint64_t> lines) {
  double sum = 0, groups = 0;
  for (std::size_t first = 0; first + 64 <= lines.size(); first += 64, ++groups) {
    std::bitset<64> sets;
    for (std::uint64_t line : lines.subspan(first, 64))
      sets.set(line * walked.spec.stride.value / 64 % 64);
    sum += static_cast<double>(sets.count());
  }
  return sum / groups;
}

double autocorrelation(std::span<const std::uint64_t> pages, std::size_t lag) {
  const double mean =
      std::accumulate(pages.begin(), pages.end(), 0.0) / static_cast<double>(pages.size());
  double product = 0, square = 0;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const double from_mean = static_cast<double>(pages[i]) - mean;
    square += from_mean * from_mean;
    if (i >= lag) product += from_mean * (static_cast<double>(pages[i - lag]) - mean);
  }
  return product / square;
}

constexpr std::array figure_names{"LRU of an eighth of the pages",
                                  "LRU of a quarter",
                                  "LRU of half",
                                  "different strides",
                                  "sets in 64 steps",
                                  "autocorrelation",
                                  "autocorrelation of every second"};
using Figures = std::array<double, figure_names.size()>;

Figures figures_of(const Walked& walked, const Lines& lines) {
  Lines pages;
  for (std::uint64_t line : lines)
    pages.push_back(line * walked.spec.stride.value / walked.page_bytes());
  const std::uint64_t all = walked.bytes() / walked.page_bytes();
  return {lru_hits(pages, all / 8),         lru_hits(pages, all / 4), lru_hits(pages, all / 2),
          different_strides(walked, lines), sets_hit(walked, lines),  autocorrelation(pages, 1),
          autocorrelation(pages, 2)};
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments_of(std::span<const Figures> all, std::size_t figure) {
  Moments found;
  const auto count = static_cast<double>(all.size());
  for (const Figures& figures : all) found.mean += figures[figure] / count;
  double squares = 0;
  for (const Figures& figures : all) squares += std::pow(figures[figure] - found.mean, 2);
  found.deviation = std::sqrt(squares / (count - 1));
  return found;
}

class Orders : public testing::TestWithParam<Walked> {};

// Each gate is five standard errors (of normal figures one in 1.7 million is outside; there are 91
// of each kind), a single seed's seven standard deviations, as the figures of few lines are skewed.
TEST_P(Orders, AreWithinTheSpreadOfShuffles) {
  const Walked& walked = GetParam();
  const unsigned count = walked.seeds();
  std::vector<Figures> ours, theirs;
  Random random(count);
  Lines all;
  for (unsigned seed = 1; seed <= count; ++seed) {
    ours.push_back(figures_of(walked, walk(walked, seed)));
    theirs.push_back(figures_of(walked, shuffled(walked, all, random)));
  }
  for (std::size_t figure = 0; figure < figure_names.size(); ++figure) {
    SCOPED_TRACE(figure_names[figure]);
    const Moments expected = moments_of(theirs, figure);
    const Moments found = moments_of(ours, figure);
    const double error = expected.deviation / std::sqrt(count) + 1e-9;  // all may have the same
    EXPECT_NEAR(found.mean, expected.mean, 5 * std::sqrt(2) * error);
    EXPECT_NEAR(found.deviation, expected.deviation, 5 * error);
    for (unsigned seed = 1; seed <= count; ++seed)
      EXPECT_NEAR(ours[seed - 1][figure], expected.mean, 7 * expected.deviation + 1e-9)
          << "seed " << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(Chain, Orders, testing::ValuesIn(walked_chains),
                         [](const auto& of) { return "case" + std::to_string(of.index); });

TEST(Permutation, FewItemsTakeEveryOrder) {
  std::uint64_t orders = 1;  // of a cycle through n items: (n - 1)!
  for (std::uint64_t n = 2; n <= 6; ++n) {
    orders *= n - 1;
    std::set<Lines> found;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const Permutation order(n, seed);
      Lines successors;
      for (std::uint64_t item = 0; item < n; ++item) {
        std::uint64_t rank = order.rank_of(item);
        successors.push_back(order.next(rank));
      }
      found.insert(successors);
    }
    EXPECT_EQ(found.size(), orders) << n << " items";
  }
}

}  // namespace
}  // namespace numatlas

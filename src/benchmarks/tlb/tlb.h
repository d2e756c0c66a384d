// Where the levels of a TLB end, from what one line a page costs more than the same lines packed.
#pragma once

#include <cstddef>
#include <vector>

namespace numatlas::benchmark_tlb {

/// One number of pages.
struct TlbPoint {
  int pages = 0;
  double cost = 0;  ///< seconds a load takes longer than in packed lines
};

/// A level that shows: the points up to `last` are held, those from `last + 1` on miss it.
struct TlbLevel {
  int number = 1;           ///< 2 where the smallest number of pages already misses the first level
  std::size_t last = 0;     ///< index of the largest number of pages that it holds
  std::size_t typical = 0;  ///< index of the point whose cost is that of its misses: the middle one
                            ///< of those that the next level holds
};

/// At most two levels, the nearest first; none where the costs do not rise. `points` by number of
/// pages. The costs are taken as steps: of all ways to cut the points into up to three runs the one
/// with the least squares around each run's mean, on the logarithm of the cost, since a walk's
/// grows with the page tables. A step counts where it is sure to be no noise: 0.8 ns and 40 % at
/// least. Where all of the first run costs as much already, the first level holds fewer pages than
/// were measured, and what ends is the second.
std::vector<TlbLevel> tlb_levels(const std::vector<TlbPoint>& points);

/// The point whose cost is the middle one of those from `begin` on, before `end`.
std::size_t typical_of(const std::vector<TlbPoint>& points, std::size_t begin, std::size_t end);

}  // namespace numatlas::benchmark_tlb

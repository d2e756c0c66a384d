// The chain of a pointer chase: one cycle through every line of a buffer, a node a line, built in
// one pass without an index array and proven by another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/units.h"
#include "kernels/permutation.h"

namespace numatlas {

enum class ChainOrder {
  random,      ///< every next line anywhere: nearly every step needs another page
  page_local,  ///< all lines of a page in random order, then the next page (pages in random order)
  sequential,  ///< ascending: what the prefetchers like best
};
inline constexpr std::array all_chain_orders{ChainOrder::random, ChainOrder::page_local,
                                             ChainOrder::sequential};
const char* name_of(ChainOrder order);
Expected<ChainOrder> parse_chain_order(std::string_view text);  // errors name --order

/// Most cursors of one CPU: above the misses that a core keeps open today.
inline constexpr unsigned most_chains = 64;

struct ChainSpec {
  ChainOrder order = ChainOrder::random;
  Bytes stride{64};     ///< distance of the nodes; a multiple of 8 bytes
  Bytes page{4096};     ///< window of `page_local`
  unsigned chains = 1;  ///< cursors that walk the cycle at the same time, far from each other
  friend bool operator==(const ChainSpec&, const ChainSpec&) = default;
};

/// The arithmetic of a chain, without memory: which line follows which.
/// Lines are numbered 0 .. lines()-1 by address. Every line has a rank; ranks are ascending along
/// the cycle (with gaps), so "each line's successor has the next rank" proves that there is one
/// cycle through all lines.
class ChainLayout {
 public:
  /// Errors (usage, naming --stride, --size or --chains): fewer than two nodes, a stride that is
  /// not a multiple of 8, fewer than two nodes (page-local: pages) a cursor.
  static Expected<ChainLayout> make(Bytes bytes, const ChainSpec& spec, std::uint64_t seed = 1);

  std::uint64_t lines() const { return lines_; }
  std::size_t stride() const { return stride_; }
  std::uint64_t rank_of(std::uint64_t line) const;
  /// Moves on to the next rank, cyclically, that holds a line. Returns the line.
  std::uint64_t next(std::uint64_t& rank) const;
  std::uint64_t successor(std::uint64_t line) const {
    std::uint64_t rank = rank_of(line);
    return next(rank);
  }
  /// Where the `part`-th of `parts` cursors starts: equally far apart in ranks, and so about
  /// equally far along the cycle. Part 0 of 1 is line 0.
  std::uint64_t start_of(unsigned part, unsigned parts) const;

  /// The permutation of all lines, for the vectorised passes; nullptr for the other orders.
  const Permutation* whole() const {
    return order_ == ChainOrder::random && outer_.vectorizable() ? &outer_ : nullptr;
  }

 private:
  ChainLayout(std::uint64_t lines, std::uint64_t window, const ChainSpec& spec, std::uint64_t seed);
  /// Order of the lines within a window (page), another one for each. All windows but the last one
  /// are full.
  Permutation inner(std::uint64_t window) const {
    return {std::min(window_, lines_ - window * window_), inner_seed_ + window};
  }

  ChainOrder order_;
  std::uint64_t lines_;
  std::size_t stride_;
  std::uint64_t window_;  ///< lines a window
  std::uint64_t span_;    ///< ranks a window: the smallest power of two that is not below its lines
  Permutation outer_;     ///< of the windows (page_local) or of the lines (random)
  std::uint64_t inner_seed_;
};

/// Writes the chain: line `a` holds the address of its successor. One pass, by address for the
/// vectorised orders and along the chain for the others. Leaves off when the run is stopped
/// (base/signals.h); the proof then gives an error of kind interrupted.
void build_chain(std::byte* base, const ChainLayout& layout);

/// One sequential pass over what stands in memory: each line's successor has the next rank.
/// Error kind internal with the first wrong line.
Expected<void> prove_chain(const std::byte* base, const ChainLayout& layout);

/// Follows the chain for `steps` dependent loads and returns where it stands (the proof of work).
/// A multiple of 16 steps runs without loop overhead worth naming.
const void* chase(const void* position, std::uint64_t steps);

/// Follows as many chains as there are positions, one load of each in turn, for `steps` loads of
/// each, and leaves the positions where they stand. 1 to `most_chains` positions.
void chase_together(std::span<const void*> positions, std::uint64_t steps);

/// Where `chase` would stand, and the same lines loaded in the same order, but from the layout
/// instead of from memory: the loads do not wait for each other.
const void* touch_ahead(const std::byte* base, const ChainLayout& layout, const void* position,
                        std::uint64_t steps);

/// Walks the whole cycle from line 0; error kind internal unless it is back after exactly lines()
/// steps and not before.
Expected<void> walk_chain(const std::byte* base, const ChainLayout& layout);

}  // namespace numatlas

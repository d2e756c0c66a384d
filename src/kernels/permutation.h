// A bijection on {0 .. n-1} that needs no memory: the heart of the chase chain.
#pragma once

#include <cstddef>
#include <cstdint>

namespace numatlas {

/// Pseudo-random order of n items, for every seed as varied as a shuffle (permutation_test.cpp).
/// Positions ("ranks") live in [0, 2^k), the smallest power of two that is not below n; `at` maps a
/// rank to an item in [0, 2^k), and ranks whose item is not below n are skipped by whoever walks
/// (cycle walking: Black & Rogaway, CT-RSA 2002). Each round is a step of a linear congruential
/// generator and a xor-shift, both bijections on k bits, so the inverse is as cheap. The
/// multipliers are fixed, because some odd numbers hardly mix; the seed gives what is added in each
/// round.
class Permutation {
 public:
  /// n >= 1; the same n and seed give the same order on every machine.
  Permutation(std::uint64_t n, std::uint64_t seed);

  std::uint64_t size() const { return n_; }
  std::uint64_t mask() const { return mask_; }

  /// Item at a rank; may be >= size() (then the rank is to be skipped).
  std::uint64_t at(std::uint64_t rank) const;
  /// Rank of an item: the inverse of `at`.
  std::uint64_t rank_of(std::uint64_t item) const;
  /// Moves on to the next rank, cyclically, that holds an item. Returns the item.
  std::uint64_t next(std::uint64_t& rank) const;

  /// Successors of `count` items from `first` on, by the widest vectors that the CPU has. Only for
  /// size() <= 2^32 (the lanes are 32 bits wide); count <= batch_size.
  void successors(std::uint64_t first, std::uint32_t count, std::uint32_t* out) const;
  /// Counts, among the items first .. first + count - 1, those whose given successor does not have
  /// the next rank. Same limits.
  std::uint32_t count_wrong(std::uint64_t first, std::uint32_t count,
                            const std::uint32_t* successors) const;
  /// Writes `count` whole 64-byte lines from `lines` on (64-byte aligned): first word the address
  /// `base` + 64 x successor, the rest zero, by streaming stores where the CPU has them, so that a
  /// line is not read in order to be written. Same limits.
  void stream_lines(std::uint64_t first, std::uint32_t count, std::byte* base) const;
  bool vectorizable() const { return mask_ <= 0xFFFFFFFFu; }

  /// Items handled at a time: 4 KiB of indices stay in the first-level cache.
  static constexpr std::uint32_t batch_size = 1024;

 private:
  friend struct PermutationLanes;
  /// From 64 items on 6 rounds could not be told from shuffles in 2,000 seeds each, 5 could.
  static constexpr int rounds = 8;
  /// Those of MurmurHash3's 32-bit finaliser (Appleby), in turn, and their inverses modulo 2^64.
  static constexpr std::uint64_t multiplier[2] = {0x85EBCA6B, 0xC2B2AE35};
  static constexpr std::uint64_t inverse[2] = {0xA7324A5CB9243, 0xD16E308E7ED1B41D};
  static_assert(multiplier[0] * inverse[0] == 1 && multiplier[1] * inverse[1] == 1);

  std::uint64_t n_;
  std::uint64_t mask_;
  std::uint64_t keys_[rounds];
  int shift_;  ///< at least half of k, so that x ^= x >> shift is its own inverse
};

/// Well-mixed next value of a seed sequence (SplitMix64: Steele, Lea & Flood, OOPSLA 2014).
std::uint64_t split_mix(std::uint64_t& state);

}  // namespace numatlas

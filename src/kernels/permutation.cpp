// Compiled once for every instruction set of the CPU family (Highway's foreach_target); the widest
// that the CPU at hand has is chosen at run time.
#include "kernels/permutation.h"

#include <algorithm>
#include <bit>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/permutation.cpp"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#ifndef NUMATLAS_PERMUTATION_LANES
#define NUMATLAS_PERMUTATION_LANES
namespace numatlas {
/// The permutation's constants cut to 32 bits, for vector lanes. Valid for mask <= 2^32 - 1: a
/// product modulo 2^k only depends on the factors modulo 2^k.
struct PermutationLanes {
  explicit PermutationLanes(const Permutation& p)
      : last(static_cast<std::uint32_t>(p.n_ - 1)),
        mask(static_cast<std::uint32_t>(p.mask_)),
        shift(p.shift_) {
    std::copy(std::begin(p.keys_), std::end(p.keys_), keys);
    std::copy(std::begin(p.multiplier), std::end(p.multiplier), multiplier);
    std::copy(std::begin(p.inverse), std::end(p.inverse), inverse);
  }
  static constexpr int rounds = Permutation::rounds;
  std::uint32_t last, mask, keys[rounds], multiplier[2], inverse[2];
  int shift;
};
}  // namespace numatlas
#endif

HWY_BEFORE_NAMESPACE();
namespace numatlas {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<std::uint32_t>;
using Vector = hn::Vec<Lanes>;

HWY_INLINE Vector fold(Vector x, int shift) { return hn::Xor(x, hn::ShiftRightSame(x, shift)); }

/// One vector alone would wait for the latency of each step, hence several at a time.
template <class... Vectors>
HWY_INLINE void to_item(const PermutationLanes& p, Vectors&... x) {
  const Lanes d;
  const Vector mask = hn::Set(d, p.mask);
  for (int round = 0; round < p.rounds; ++round) {
    const Vector multiplier = hn::Set(d, p.multiplier[round % 2]);
    const Vector key = hn::Set(d, p.keys[round]);
    ((x = hn::And(hn::Add(hn::Mul(x, multiplier), key), mask)), ...);
    ((x = fold(x, p.shift)), ...);
  }
}

template <class... Vectors>
HWY_INLINE void to_rank(const PermutationLanes& p, Vectors&... x) {
  const Lanes d;
  const Vector mask = hn::Set(d, p.mask);
  for (int round = p.rounds; round-- > 0;) {
    const Vector inverse = hn::Set(d, p.inverse[round % 2]);
    const Vector key = hn::Set(d, p.keys[round]);
    ((x = fold(x, p.shift)), ...);
    ((x = hn::And(hn::Mul(hn::Sub(x, key), inverse), mask)), ...);
  }
}

/// The items from `first` on. Those past the last one (in a tail) are clamped: their results are
/// not used. Highway's Iota of a number not known when compiling goes through memory, and waits for
/// all stores before it.
HWY_INLINE Vector items_from(const PermutationLanes& p, std::uint32_t first) {
  const Lanes d;
  return hn::Min(hn::Add(hn::Iota(d, 0), hn::Set(d, first)), hn::Set(d, p.last));
}

/// Goes on to the next ranks that hold an item where these do not.
HWY_INLINE void skip_holes(const PermutationLanes& p, Vector& rank, Vector& item) {
  const Lanes d;
  const Vector last = hn::Set(d, p.last);
  for (auto hole = hn::Gt(item, last); !hn::AllFalse(d, hole); hole = hn::Gt(item, last)) {
    const Vector further = hn::Add(rank, hn::Set(d, 1));
    rank = hn::And(hn::IfThenElse(hole, further, rank), hn::Set(d, p.mask));
    item = rank;
    to_item(p, item);
  }
}

/// The two vectors' items become the ranks after theirs that hold an item, and these items.
HWY_INLINE void advance(const PermutationLanes& p, Vector& rank0, Vector& rank1, Vector& item0,
                        Vector& item1) {
  const Lanes d;
  to_rank(p, rank0, rank1);
  rank0 = item0 = hn::And(hn::Add(rank0, hn::Set(d, 1)), hn::Set(d, p.mask));
  rank1 = item1 = hn::And(hn::Add(rank1, hn::Set(d, 1)), hn::Set(d, p.mask));
  to_item(p, item0, item1);
  skip_holes(p, rank0, item0);
  skip_holes(p, rank1, item1);
}

void successors(const PermutationLanes& p, std::uint32_t first, std::uint32_t count,
                std::uint32_t* out) {
  const Lanes d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t tail[2 * hn::MaxLanes(Lanes())];
  for (std::uint32_t i = 0; i < count; i += 2 * lanes) {
    Vector rank0 = items_from(p, first + i), rank1 = items_from(p, first + i + lanes);
    Vector item0, item1;
    advance(p, rank0, rank1, item0, item1);
    std::uint32_t* const to = i + 2 * lanes <= count ? out + i : tail;
    hn::StoreU(item0, d, to);
    hn::StoreU(item1, d, to + lanes);
    if (to == tail) std::copy(tail, tail + (count - i), out + i);
  }
}

std::uint32_t count_wrong(const PermutationLanes& p, std::uint32_t first, std::uint32_t count,
                          const std::uint32_t* successors) {
  const Lanes d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t tail[2 * hn::MaxLanes(Lanes())] = {};
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; i += 2 * lanes) {
    const std::uint32_t here = std::min(2 * lanes, count - i);
    if (here < 2 * lanes) std::copy(successors + i, successors + count, tail);
    const std::uint32_t* const given = here < 2 * lanes ? tail : successors + i;
    Vector given0 = hn::LoadU(d, given), given1 = hn::LoadU(d, given + lanes);
    to_rank(p, given0, given1);
    Vector rank0 = items_from(p, first + i), rank1 = items_from(p, first + i + lanes);
    Vector item0, item1;
    advance(p, rank0, rank1, item0, item1);
    const auto right0 = hn::And(hn::Eq(given0, rank0), hn::FirstN(d, here));
    const auto right1 = hn::And(hn::Eq(given1, rank1), hn::FirstN(d, here - std::min(here, lanes)));
    wrong += here - static_cast<std::uint32_t>(hn::CountTrue(d, right0) + hn::CountTrue(d, right1));
  }
  return wrong;
}

/// One 64-byte line: its first word `address`, the rest zero.
HWY_INLINE void stream_line(std::uint64_t address, std::uint64_t* line) {
  const hn::CappedTag<std::uint64_t, 8> d;
  const auto head = hn::IfThenElseZero(hn::FirstN(d, 1), hn::Set(d, address));
  hn::Stream(head, d, line);
  for (std::size_t word = hn::Lanes(d); word < 8; word += hn::Lanes(d)) {
    hn::Stream(hn::Zero(d), d, line + word);
  }
}

void stream_lines(const PermutationLanes& p, std::uint32_t first, std::uint32_t count,
                  std::uint64_t base) {
  // Few enough that their stores drain while the next successors are computed.
  constexpr std::uint32_t few = 64;
  std::uint32_t next[few];
  auto* line = reinterpret_cast<std::uint64_t*>(base + std::uint64_t{first} * 64);
  for (std::uint32_t done = 0; done < count; done += few) {
    const std::uint32_t here = std::min(few, count - done);
    successors(p, first + done, here, next);
    for (std::uint32_t i = 0; i < here; ++i, line += 8) {
      stream_line(base + std::uint64_t{next[i]} * 64, line);
    }
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace numatlas
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace numatlas {

HWY_EXPORT(successors);
HWY_EXPORT(count_wrong);
HWY_EXPORT(stream_lines);

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Permutation::Permutation(std::uint64_t n, std::uint64_t seed) : n_(n) {
  const auto bits = static_cast<int>(std::bit_width(n - 1));
  mask_ = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  shift_ = std::max(1, (bits + 1) / 2);
  for (std::uint64_t& key : keys_) key = split_mix(seed);
}

std::uint64_t Permutation::at(std::uint64_t rank) const {
  std::uint64_t x = rank;
  for (int round = 0; round < rounds; ++round) {
    x = (x * multiplier[round % 2] + keys_[round]) & mask_;
    x ^= x >> shift_;
  }
  return x;
}

std::uint64_t Permutation::rank_of(std::uint64_t item) const {
  std::uint64_t x = item;
  for (int round = rounds; round-- > 0;) {
    x ^= x >> shift_;
    x = ((x - keys_[round]) * inverse[round % 2]) & mask_;
  }
  return x;
}

std::uint64_t Permutation::next(std::uint64_t& rank) const {
  while (true) {
    rank = (rank + 1) & mask_;
    const std::uint64_t item = at(rank);
    if (item < n_) return item;
  }
}

void Permutation::successors(std::uint64_t first, std::uint32_t count, std::uint32_t* out) const {
  HWY_DYNAMIC_DISPATCH(successors)
  (PermutationLanes(*this), static_cast<std::uint32_t>(first), count, out);
}

std::uint32_t Permutation::count_wrong(std::uint64_t first, std::uint32_t count,
                                       const std::uint32_t* given) const {
  return HWY_DYNAMIC_DISPATCH(count_wrong)(PermutationLanes(*this),
                                           static_cast<std::uint32_t>(first), count, given);
}

void Permutation::stream_lines(std::uint64_t first, std::uint32_t count, std::byte* base) const {
  HWY_DYNAMIC_DISPATCH(stream_lines)
  (PermutationLanes(*this), static_cast<std::uint32_t>(first), count,
   reinterpret_cast<std::uint64_t>(base));
}

}  // namespace numatlas
#endif

// Compiled once for every instruction set of the CPU family (Highway's foreach_target); the widest
// that the CPU at hand has is chosen at run time.
#include "kernels/permutation.h"

#include <algorithm>
#include <bit>

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
        key(static_cast<std::uint32_t>(p.key_)),
        multiplier{static_cast<std::uint32_t>(p.multiplier_[0]),
                   static_cast<std::uint32_t>(p.multiplier_[1])},
        inverse{static_cast<std::uint32_t>(p.inverse_[0]),
                static_cast<std::uint32_t>(p.inverse_[1])},
        shift(p.shift_) {}
  std::uint32_t last, mask, key, multiplier[2], inverse[2];
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

HWY_INLINE Vector multiply(Vector x, std::uint32_t factor, std::uint32_t mask) {
  const Lanes d;
  return hn::And(hn::Mul(x, hn::Set(d, factor)), hn::Set(d, mask));
}

HWY_INLINE Vector at(const PermutationLanes& p, Vector rank) {
  Vector x = fold(hn::Xor(rank, hn::Set(Lanes(), p.key)), p.shift);
  x = fold(multiply(x, p.multiplier[0], p.mask), p.shift);
  return fold(multiply(x, p.multiplier[1], p.mask), p.shift);
}

HWY_INLINE Vector rank_of(const PermutationLanes& p, Vector item) {
  Vector x = fold(item, p.shift);
  x = fold(multiply(x, p.inverse[1], p.mask), p.shift);
  x = fold(multiply(x, p.inverse[0], p.mask), p.shift);
  return hn::Xor(x, hn::Set(Lanes(), p.key));
}

/// Next ranks that hold an item, and these items.
HWY_INLINE Vector next_rank(const PermutationLanes& p, Vector rank, Vector& item) {
  const Lanes d;
  const Vector one = hn::Set(d, 1);
  const Vector mask = hn::Set(d, p.mask);
  const Vector last = hn::Set(d, p.last);
  rank = hn::And(hn::Add(rank, one), mask);
  item = at(p, rank);
  for (auto skip = hn::Gt(item, last); !hn::AllFalse(d, skip); skip = hn::Gt(item, last)) {
    rank = hn::And(hn::IfThenElse(skip, hn::Add(rank, one), rank), mask);
    item = at(p, rank);
  }
  return rank;
}

void successors(const PermutationLanes& p, std::uint32_t first, std::uint32_t count,
                std::uint32_t* out) {
  const Lanes d;
  const auto step = static_cast<std::uint32_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t tail[hn::MaxLanes(Lanes())];
  for (std::uint32_t i = 0; i < count; i += step) {
    // Items past the last one (in the tail) are clamped: their results are not stored.
    const Vector items = hn::Min(hn::Iota(d, first + i), hn::Set(d, p.last));
    Vector next;
    next_rank(p, rank_of(p, items), next);
    if (i + step <= count) {
      hn::StoreU(next, d, out + i);
    } else {
      hn::Store(next, d, tail);
      std::copy(tail, tail + (count - i), out + i);
    }
  }
}

std::uint32_t count_wrong(const PermutationLanes& p, std::uint32_t first, std::uint32_t count,
                          const std::uint32_t* successors) {
  const Lanes d;
  const auto step = static_cast<std::uint32_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t tail[hn::MaxLanes(Lanes())] = {};
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; i += step) {
    const std::uint32_t here = std::min(step, count - i);
    Vector given;
    if (here == step) {
      given = hn::LoadU(d, successors + i);
    } else {
      std::copy(successors + i, successors + count, tail);
      given = hn::Load(d, tail);
    }
    const Vector items = hn::Min(hn::Iota(d, first + i), hn::Set(d, p.last));
    Vector unused;
    const Vector expected = next_rank(p, rank_of(p, items), unused);
    const auto equal = hn::And(hn::Eq(rank_of(p, given), expected), hn::FirstN(d, here));
    wrong += here - static_cast<std::uint32_t>(hn::CountTrue(d, equal));
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
  const Lanes d;
  const auto step = static_cast<std::uint32_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t next[hn::MaxLanes(Lanes())];
  auto* line = reinterpret_cast<std::uint64_t*>(base + std::uint64_t{first} * 64);
  for (std::uint32_t i = 0; i < count; i += step) {
    Vector items;
    next_rank(p, rank_of(p, hn::Min(hn::Iota(d, first + i), hn::Set(d, p.last))), items);
    hn::Store(items, d, next);
    const std::uint32_t here = std::min(step, count - i);
    for (std::uint32_t j = 0; j < here; ++j, line += 8) {
      stream_line(base + std::uint64_t{next[j]} * 64, line);
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

namespace {

/// Inverse of an odd number modulo 2^64 by Newton's iteration; five rounds from 3 correct bits
/// (x = a) give more than 64.
std::uint64_t inverse_of_odd(std::uint64_t a) {
  std::uint64_t x = a;
  for (int round = 0; round < 5; ++round) x *= 2 - a * x;
  return x;
}

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed) : n_(n) {
  const auto bits = static_cast<int>(std::bit_width(n - 1));
  mask_ = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  shift_ = std::max(1, (bits + 1) / 2);
  std::uint64_t state = seed;
  key_ = split_mix(state) & mask_;
  for (int i = 0; i < 2; ++i) {
    multiplier_[i] = split_mix(state) | 1;
    inverse_[i] = inverse_of_odd(multiplier_[i]);
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

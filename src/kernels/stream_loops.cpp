// Compiled once for every instruction set (Highway's foreach_target).
#include "kernels/stream_loops.h"

#include <strings.h>

#include <atomic>

#include <fmt/format.h>
#include <fmt/ranges.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream_loops.cpp"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace numatlas {
namespace HWY_NAMESPACE {
namespace loops = hwy::HWY_NAMESPACE;

// At most a line, so that every loop works on whole lines.
constexpr std::size_t line_words = 8;
template <std::size_t words>
using Doubles = loops::CappedTag<double, words>;
template <std::size_t words>
using Words = loops::CappedTag<std::uint64_t, words>;

/// Sum of all lanes, modulo 2^64. (Highway's own is signed addition to the sanitizer for AVX3.)
template <std::size_t width>
HWY_INLINE std::uint64_t sum_of_lanes(loops::Vec<Words<width>> lanes) {
  const Words<width> d;
  HWY_ALIGN std::uint64_t words[line_words];
  loops::Store(lanes, d, words);
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < loops::Lanes(d); ++lane) sum += words[lane];
  return sum;
}

/// The compiler leaves loads before this before it. Prefetchers follow ascending ones best.
HWY_INLINE void keep_order() { std::atomic_signal_fence(std::memory_order_acq_rel); }

// Lines that are read in a row at one place; more are not faster.
constexpr std::size_t block_lines = 4;
constexpr std::size_t block_words = block_lines * line_words;
// Reading goes on at two places of the array by turns: prefetchers stop at the end of a page and
// start slowly on the next one. Loops over more arrays have more places as it is.
constexpr std::size_t places = 2;

/// To the compiler something needs the vector, which is nothing but loaded.
template <class V>
HWY_INLINE void only_load(V vector) {
#if (HWY_TARGET & (HWY_SCALAR | HWY_EMU128)) != 0
  asm volatile("" : : "m"(vector) : "memory");
#elif HWY_ARCH_X86
  asm volatile("" : : "x"(vector.raw) : "memory");
#elif HWY_ARCH_ARM_A64 && (HWY_TARGET & (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128))
  asm volatile("" : : "w"(vector) : "memory");
#elif HWY_ARCH_ARM_A64
  asm volatile("" : : "w"(vector.raw) : "memory");
#else
  asm volatile("" : : "m"(vector) : "memory");
#endif
}

/// Adds up once, in four independent sums: one addition a cycle and vector needs as many in flight
/// as it takes cycles. Or loads as often as `again` says, and returns 0: first-level caches give
/// more vectors a cycle than some cores add.
template <std::size_t width, bool adds>
HWY_NOINLINE std::uint64_t read_lines(const LoopCall& call) {
  const Words<width> d;
  const std::size_t lanes = loops::Lanes(d);
  const auto* const start = reinterpret_cast<const std::uint64_t*>(call.first);
  const auto* const end = start + call.lines * line_words;
  const std::size_t part = call.lines / block_lines / places * block_words;
  auto a = loops::Zero(d), b = a, c = a, e = a;
  const auto read = [&](auto& sum, const std::uint64_t* word) HWY_ATTR {
    if constexpr (adds) {
      sum = loops::Add(sum, loops::Load(d, word));
      keep_order();
    } else {
      only_load(loops::Load(d, word));
    }
  };
  for (std::uint64_t left = adds ? 1 : call.again; left > 0; --left) {
    const auto* from = start;
    for (const auto* const end_of_part = from + part; from != end_of_part; from += block_words) {
#pragma GCC unroll 2
      for (std::size_t place = 0; place < places; ++place) {
        const auto* block = from + place * part;
#pragma GCC unroll 8
        for (std::size_t word = 0; word < block_words; word += 4 * lanes, block += 4 * lanes) {
          read(a, block);
          read(b, block + lanes);
          read(c, block + 2 * lanes);
          read(e, block + 3 * lanes);
        }
      }
    }
    for (from += (places - 1) * part; from != end; from += lanes) read(a, from);
  }
  return sum_of_lanes<width>(loops::Add(loops::Add(a, b), loops::Add(c, e)));
}

template <std::size_t width>
std::uint64_t read_lines_by(const LoopCall& call) {
  const std::uint64_t sum = read_lines<width, true>(call);
  if (call.again > 0) read_lines<width, false>(call);
  return sum;
}

template <Operation operation, class D>
HWY_INLINE loops::Vec<D> result(D d, const double* first, const double* second, const double* third,
                                std::size_t word, loops::Vec<D> value) {
  if constexpr (operation == Operation::write) return value;
  if constexpr (operation == Operation::copy) return loops::Load(d, second + word);
  if constexpr (operation == Operation::scale)
    return loops::Mul(value, loops::Load(d, second + word));
  if constexpr (operation == Operation::add) {
    return loops::Add(loops::Load(d, second + word), loops::Load(d, third + word));
  }
  if constexpr (operation == Operation::triad) {
    return loops::MulAdd(value, loops::Load(d, third + word), loops::Load(d, second + word));
  }
  return loops::Add(loops::Load(d, first + word), value);  // update
}

// Arm's non-temporal store of NEON is of two vectors at once; gcc has no function for it.
#if HWY_ARCH_ARM_A64
constexpr bool has_sve = (HWY_TARGET & (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)) != 0;
constexpr bool stores_pairs = !has_sve && (HWY_TARGET & (HWY_SCALAR | HWY_EMU128)) == 0;
#else
constexpr bool stores_pairs = false;
#endif

/// Vectors that one store writes.
constexpr std::size_t vectors_of(Stores stores) {
  return stores_pairs && stores == Stores::non_temporal ? 2 : 1;
}

/// `second` is stored after `first` where a store is of two.
template <Stores stores, class D>
HWY_INLINE void store(D d, loops::Vec<D> first, [[maybe_unused]] loops::Vec<D> second, double* to) {
  if constexpr (stores == Stores::regular) {
    loops::Store(first, d, to);
  } else {
#if HWY_ARCH_ARM_A64 && (HWY_TARGET & (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128))
    svstnt1_f64(loops::detail::MakeMask(d), to, first);
#elif HWY_ARCH_ARM_A64 && !(HWY_TARGET & (HWY_SCALAR | HWY_EMU128))
    asm volatile("stnp %q0, %q1, [%2]" : : "w"(first.raw), "w"(second.raw), "r"(to) : "memory");
#else
    loops::Stream(first, d, to);
#endif
  }
}

/// Not inlined: as a symbol of its own a test can look at its code.
template <Operation operation, Stores stores, std::size_t width>
HWY_NOINLINE void store_lines(const LoopCall& call) {
  const Doubles<width> d;
  const auto value = loops::Set(d, call.value);
  // The stores might change `call` itself for all the compiler knows: read it once.
  double* const first = call.first;
  const double *const second = call.second, *const third = call.third;
  const std::size_t words = call.lines * line_words, lanes = loops::Lanes(d);
#pragma GCC unroll 4
  for (std::size_t word = 0; word < words; word += vectors_of(stores) * lanes) {
    const auto out = result<operation>(d, first, second, third, word, value);
    auto next = out;
    if constexpr (vectors_of(stores) == 2)
      next = result<operation>(d, first, second, third, word + lanes, value);
    store<stores>(d, out, next, first + word);
  }
  if constexpr (stores == Stores::non_temporal) hwy::FlushStream();
}

/// Reads and writes of one turn after the other in one loop: the next turn's reads are under way
/// while this one's stores leave.
template <Stores stores, std::size_t width>
HWY_NOINLINE std::uint64_t mix_lines(const LoopCall& call) {
  const Words<width> d;
  const Doubles<width> of_doubles;
  const auto value = loops::Set(of_doubles, call.value);
  const auto* from = reinterpret_cast<const std::uint64_t*>(call.second);
  double* to = call.first;
  const std::size_t reads = call.reads * line_words, writes = call.writes * line_words;
  const std::size_t turns = call.lines, lanes = loops::Lanes(d);
  auto sum = loops::Zero(d);
  for (std::size_t turn = 0; turn < turns; ++turn, from += reads, to += writes) {
    for (std::size_t word = 0; word < reads; word += lanes) {
      sum = loops::Add(sum, loops::Load(d, from + word));
    }
    for (std::size_t word = 0; word < writes; word += vectors_of(stores) * lanes)
      store<stores>(of_doubles, value, value, to + word);
  }
  if constexpr (stores == Stores::non_temporal) hwy::FlushStream();
  return sum_of_lanes<width>(sum);
}

template <Operation operation, std::size_t width>
std::uint64_t store_lines_by(const LoopCall& call) {
  call.stores == Stores::non_temporal ? store_lines<operation, Stores::non_temporal, width>(call)
                                      : store_lines<operation, Stores::regular, width>(call);
  return 0;
}

template <std::size_t width>
std::uint64_t loop_of(const LoopCall& call) {
  switch (call.operation) {
    case Operation::read: return read_lines_by<width>(call);
    case Operation::write: return store_lines_by<Operation::write, width>(call);
    case Operation::copy: return store_lines_by<Operation::copy, width>(call);
    case Operation::scale: return store_lines_by<Operation::scale, width>(call);
    case Operation::add: return store_lines_by<Operation::add, width>(call);
    case Operation::triad: return store_lines_by<Operation::triad, width>(call);
    case Operation::update: return store_lines_by<Operation::update, width>(call);
    case Operation::mix:
      return call.stores == Stores::non_temporal ? mix_lines<Stores::non_temporal, width>(call)
                                                 : mix_lines<Stores::regular, width>(call);
  }
  return 0;
}

// Where vectors are no wider, the narrower loop would be the same once more.
constexpr std::size_t most_words = loops::MaxLanes(Doubles<line_words>());

std::uint64_t loop_here(const LoopCall& call) {
  if constexpr (most_words > 2) {
    if (call.width == 2 * sizeof(double)) return loop_of<2>(call);
  }
  if constexpr (most_words > 4) {
    if (call.width == 4 * sizeof(double)) return loop_of<4>(call);
  }
  return loop_of<most_words>(call);
}

std::size_t widest_here() { return loops::Lanes(Doubles<line_words>()) * sizeof(double); }

std::int64_t target_here() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace numatlas
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace numatlas {

HWY_EXPORT(loop_here);
HWY_EXPORT(target_here);
HWY_EXPORT(widest_here);

const char* name_of(Stores stores) {
  return stores == Stores::regular ? "regular" : "non-temporal";
}

std::uint64_t run_loop(const LoopCall& call) { return HWY_DYNAMIC_DISPATCH(loop_here)(call); }

namespace {
/// Those that use_instruction_set has put aside.
std::int64_t disabled = 0;
}  // namespace

std::vector<std::string> instruction_sets() {
  hwy::DisableTargets(0);
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  hwy::DisableTargets(disabled);
  return names;
}

std::string instruction_set() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target_here)()); }

std::vector<unsigned> vector_widths() {
  const auto widest = static_cast<unsigned>(HWY_DYNAMIC_DISPATCH(widest_here)());
  std::vector<unsigned> widths{widest};
  constexpr unsigned narrowest = 16;
  while (disabled == 0 && widths.back() > narrowest) widths.push_back(widths.back() / 2);
  return widths;
}

bool has_non_temporal_stores() {
#if HWY_ARCH_X86 || HWY_ARCH_ARM_A64
  return (HWY_DYNAMIC_DISPATCH(target_here)() & (HWY_SCALAR | HWY_EMU128)) == 0;
#else
  return false;
#endif
}

Expected<void> use_instruction_set(const std::string& name) {
  disabled = 0;
  hwy::DisableTargets(disabled);
  if (name.empty()) return {};
  std::int64_t known = 0;
  for (std::int64_t bits = HWY_TARGETS; bits != 0; bits &= bits - 1) {
    const std::int64_t target = bits & -bits;
    if (strcasecmp(hwy::TargetName(target), name.c_str()) == 0) known = target;
  }
  const std::string hint = fmt::format("this CPU has {}", fmt::join(instruction_sets(), ", "));
  if (known == 0) {
    return fail(ErrorKind::usage, fmt::format("unknown instruction set '{}'", name), hint);
  }
  if ((hwy::SupportedTargets() & known) == 0) {
    return fail(ErrorKind::unavailable, fmt::format("this CPU has no {}", name), hint);
  }
  disabled = ~known;
  hwy::DisableTargets(disabled);
  return {};
}

}  // namespace numatlas
#endif

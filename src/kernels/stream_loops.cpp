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
using Doubles = loops::CappedTag<double, line_words>;
using Words = loops::CappedTag<std::uint64_t, line_words>;

/// Sum of all lanes, modulo 2^64. (Highway's own is signed addition to the sanitizer for AVX3.)
HWY_INLINE std::uint64_t sum_of_lanes(loops::Vec<Words> lanes) {
  const Words d;
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

/// Four independent sums: one addition a cycle and vector needs as many in flight as it takes
/// cycles.
HWY_NOINLINE std::uint64_t sum_lines(const LoopCall& call) {
  const Words d;
  const std::size_t lanes = loops::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint64_t*>(call.first);
  const auto* const end = from + call.lines * line_words;
  const std::size_t part = call.lines / block_lines / places * block_words;
  const auto* const end_of_part = from + part;
  auto a = loops::Zero(d), b = a, c = a, e = a;
  for (; from != end_of_part; from += block_words) {
#pragma GCC unroll 2
    for (std::size_t place = 0; place < places; ++place) {
      const auto* block = from + place * part;
#pragma GCC unroll 8
      for (std::size_t word = 0; word < block_words; word += 4 * lanes, block += 4 * lanes) {
        a = loops::Add(a, loops::Load(d, block));
        keep_order();
        b = loops::Add(b, loops::Load(d, block + lanes));
        keep_order();
        c = loops::Add(c, loops::Load(d, block + 2 * lanes));
        keep_order();
        e = loops::Add(e, loops::Load(d, block + 3 * lanes));
        keep_order();
      }
    }
  }
  for (from += (places - 1) * part; from != end; from += lanes)
    a = loops::Add(a, loops::Load(d, from));
  return sum_of_lanes(loops::Add(loops::Add(a, b), loops::Add(c, e)));
}

template <Operation operation>
HWY_INLINE loops::Vec<Doubles> result(const double* first, const double* second,
                                      const double* third, std::size_t word,
                                      loops::Vec<Doubles> value) {
  const Doubles d;
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

/// Not inlined: as a symbol of its own a test can look at its code.
template <Operation operation, Stores stores>
HWY_NOINLINE void store_lines(const LoopCall& call) {
  const Doubles d;
  const auto value = loops::Set(d, call.value);
  // The stores might change `call` itself for all the compiler knows: read it once.
  double* const first = call.first;
  const double *const second = call.second, *const third = call.third;
  const std::size_t words = call.lines * line_words;
#pragma GCC unroll 4
  for (std::size_t word = 0; word < words; word += loops::Lanes(d)) {
    const auto out = result<operation>(first, second, third, word, value);
    if constexpr (stores == Stores::non_temporal) {
      loops::Stream(out, d, first + word);
    } else {
      loops::Store(out, d, first + word);
    }
  }
  if constexpr (stores == Stores::non_temporal) hwy::FlushStream();
}

/// Reads and writes of one turn after the other in one loop: the next turn's reads are under way
/// while this one's stores leave.
template <Stores stores>
HWY_NOINLINE std::uint64_t mix_lines(const LoopCall& call) {
  const Words d;
  const Doubles of_doubles;
  const auto value = loops::Set(of_doubles, call.value);
  const auto* from = reinterpret_cast<const std::uint64_t*>(call.second);
  double* to = call.first;
  const std::size_t reads = call.reads * line_words, writes = call.writes * line_words;
  const std::size_t turns = call.lines;
  auto sum = loops::Zero(d);
  for (std::size_t turn = 0; turn < turns; ++turn, from += reads, to += writes) {
    for (std::size_t word = 0; word < reads; word += loops::Lanes(d)) {
      sum = loops::Add(sum, loops::Load(d, from + word));
    }
    for (std::size_t word = 0; word < writes; word += loops::Lanes(of_doubles)) {
      if constexpr (stores == Stores::non_temporal) {
        loops::Stream(value, of_doubles, to + word);
      } else {
        loops::Store(value, of_doubles, to + word);
      }
    }
  }
  if constexpr (stores == Stores::non_temporal) hwy::FlushStream();
  return sum_of_lanes(sum);
}

template <Operation operation>
void store_lines_by(const LoopCall& call) {
  call.stores == Stores::non_temporal ? store_lines<operation, Stores::non_temporal>(call)
                                      : store_lines<operation, Stores::regular>(call);
}

std::uint64_t loop_here(const LoopCall& call) {
  switch (call.operation) {
    case Operation::read: return sum_lines(call);
    case Operation::write: store_lines_by<Operation::write>(call); break;
    case Operation::copy: store_lines_by<Operation::copy>(call); break;
    case Operation::scale: store_lines_by<Operation::scale>(call); break;
    case Operation::add: store_lines_by<Operation::add>(call); break;
    case Operation::triad: store_lines_by<Operation::triad>(call); break;
    case Operation::update: store_lines_by<Operation::update>(call); break;
    case Operation::mix:
      return call.stores == Stores::non_temporal ? mix_lines<Stores::non_temporal>(call)
                                                 : mix_lines<Stores::regular>(call);
  }
  return 0;
}

std::int64_t target_here() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace numatlas
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace numatlas {

HWY_EXPORT(loop_here);
HWY_EXPORT(target_here);

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

bool has_non_temporal_stores() {
#if HWY_ARCH_X86
  return (HWY_DYNAMIC_DISPATCH(target_here)() & (HWY_SCALAR | HWY_EMU128)) == 0;
#else
  return false;  // gcc has no way to write them for Arm's vectors
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
    return fail_usage("--isa", fmt::format("unknown instruction set '{}'", name), hint);
  }
  if ((hwy::SupportedTargets() & known) == 0) {
    return fail_about(ErrorKind::unavailable, "--isa", fmt::format("this CPU has no {}", name),
                      hint);
  }
  disabled = ~known;
  hwy::DisableTargets(disabled);
  return {};
}

}  // namespace numatlas
#endif

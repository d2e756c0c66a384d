#include "kernels/random.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/indexed_words.h"
#include "kernels/kind.h"
#include "kernels/permutation.h"

namespace numatlas {
namespace {

using Word = std::uint64_t;

/// Pseudo-random numbers whose high bits choose places: a linear congruential generator modulo 2^64
/// (its multiplier: Steele & Vigna, 2021). It keeps the next four numbers, so that four can be made
/// side by side.
class Numbers {
 public:
  static constexpr std::size_t together = 4;

  explicit Numbers(Word seed = 0) {
    for (Word& number : next_) number = seed = seed * multiplier + increment;
  }
  Word next() {
    const Word number = next_.front();
    std::shift_left(next_.begin(), next_.end(), 1);
    next_.back() = four_later(number);
    return number;
  }
  /// Gives `use(i, number)` the next `count` numbers.
  template <class Use>
  void for_next(std::size_t count, const Use& use) {
    std::array<Word, together> next = next_;
    std::size_t i = 0;
    for (; i + together <= count; i += together) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < together; ++k) {
        use(i + k, next[k]);
        next[k] = four_later(next[k]);
      }
    }
    next_ = next;
    for (; i < count; ++i) use(i, this->next());
  }

 private:
  static constexpr Word multiplier = 0xD1342543DE82EF95, increment = 0x9E3779B97F4A7C15;
  static constexpr Word four_later(Word number) {
    constexpr Word two = multiplier * multiplier, sum = (multiplier + 1) * increment;
    return number * (two * two) + (two + 1) * sum;
  }
  std::array<Word, together> next_{};
};

/// The place among `places` that a number of 64 bits chooses, without a division (Lemire, 2019).
std::size_t place_of(Word number, std::size_t places) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>((static_cast<Wide>(number) * places) >> 64);
}

/// What one call of `run` does.
struct Call {
  Word* memory = nullptr;
  std::size_t places = 0;
  Numbers* numbers = nullptr;
  std::uint64_t accesses = 0;
};

/// One access to the words at `at`, of which the first has this index; `value` is what it puts in.
/// Returns what it has read.
template <Access access, std::size_t words>
Word touch(Word* at, [[maybe_unused]] std::size_t first, [[maybe_unused]] Word value) {
  Word read = 0;
  for (std::size_t i = 0; i < words; ++i) {
    if constexpr (access == Access::read) read += at[i];
    if constexpr (access == Access::write) at[i] = written(first + i);
    if constexpr (access == Access::update) {
      read += at[i];
      at[i] ^= value;
    }
    if constexpr (access == Access::atomic)
      read += __atomic_fetch_add(&at[i], value, __ATOMIC_RELAXED);
  }
  return read;
}

// Accesses whose places are made before the first of them: a core looks ahead over more accesses
// where no arithmetic lies between them. They take 8 KiB of the first-level cache, of updates 16.
constexpr std::size_t block_accesses = 1024;
struct Block {
  std::array<Word, block_accesses> numbers;
  std::array<Word*, block_accesses> places;
};

/// Returns the sum of what was read.
template <Access access, std::size_t words>
Word go(const Call& call) {
  constexpr bool puts_in = access == Access::update || access == Access::atomic;
  Block block;
  Word sum = 0;
  for (std::uint64_t left = call.accesses; left > 0;) {
    const std::size_t accesses = std::min<std::uint64_t>(left, block_accesses);
    left -= accesses;
    call.numbers->for_next(accesses, [&](std::size_t i, Word number) {
      if constexpr (puts_in) block.numbers[i] = number;
      block.places[i] = call.memory + place_of(number, call.places) * words;
    });
#pragma GCC unroll 4
    for (std::size_t i = 0; i < accesses; ++i) {
      Word* const place = block.places[i];
      sum += touch<access, words>(place, static_cast<std::size_t>(place - call.memory),
                                  puts_in ? block.numbers[i] : 0);
    }
  }
  return sum;
}

template <Access access>
Word go(std::size_t words, const Call& call) {
  switch (words) {
    case 1: return go<access, 1>(call);
    case 2: return go<access, 2>(call);
    case 4: return go<access, 4>(call);
    case 8: return go<access, 8>(call);
    case 16: return go<access, 16>(call);
    default: return go<access, 32>(call);
  }
}

Word go(Access access, std::size_t words, const Call& call) {
  switch (access) {
    case Access::write: return go<Access::write>(words, call);
    case Access::update: return go<Access::update>(words, call);
    case Access::atomic: return go<Access::atomic>(words, call);
    default: return go<Access::read>(words, call);
  }
}

/// The last line of shared memory counts the workers that have undone their updates.
std::size_t control_bytes(const RandomParameters& work) {
  return work.access == Access::atomic ? access_line : 0;
}

Expected<void> check_random_size(const RandomParameters& work, Bytes size) {
  const Bytes least{std::size_t{work.bytes} + control_bytes(work)};
  if (size >= least) return {};
  return fail_usage("--size",
                    fmt::format("{} is too small for one access of {} bytes (at least {})",
                                to_text(size), work.bytes, to_text(least)));
}

class RandomKernel final : public Kernel {
 public:
  explicit RandomKernel(const KernelSpec& spec)
      : work_(spec.as<RandomParameters>()), access_words_(work_.bytes / sizeof(Word)) {
    std::uint64_t state = spec.seed;
    numbers_ = Numbers(split_mix(state));
    unchecked_.numbers = numbers_;
  }

  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_random_size(work_, Bytes{memory.bytes}));
    const std::size_t bytes = memory.bytes - control_bytes(work_);
    words_ = {reinterpret_cast<Word*>(memory.data), bytes / sizeof(Word)};
    places_ = bytes / work_.bytes;
    if (memory.filled) return {};
    if (control_bytes(work_) > 0) words_.memory[words_.count] = 0;
    return words_.fill();
  }

  void run(std::uint64_t steps) override {
    unchecked_.sum += go(work_.access, access_words_, {words_.memory, places_, &numbers_, steps});
    unchecked_.steps += steps;
  }

  std::uint64_t steps_per_pass() const override { return places_; }

  /// Comes by the same places once more: adds up what lies there, or undoes what was done.
  Expected<void> verify() const override {
    Unchecked& done = unchecked_;
    std::vector<bool> put_back(work_.access == Access::write ? places_ : 0);
    Word sum = 0;
    std::uint64_t wrong = 0;
    const auto again = [&](std::size_t first, std::size_t end) {
      done.numbers.for_next(end - first, [&](std::size_t, Word number) {
        const std::size_t place = place_of(number, places_), word = place * access_words_;
        if (work_.access == Access::update || work_.access == Access::atomic)
          return undo(word, number);
        sum += access_words_ * word + access_words_ * (access_words_ - 1) / 2;
        if (put_back.empty() || put_back[place]) return;
        put_back[place] = true;
        for (std::size_t i = word; i < word + access_words_; ++i) words_.put_back(i, wrong);
      });
    };
    if (!fill_in_pieces(done.steps, again)) return {};  // stopped: nobody asks any more
    const bool right = work_.access != Access::read || sum == done.sum;
    done = {numbers_};
    if (!all_have_undone()) return {};
    return words_.look(work_.name(), wrong, right);
  }

 private:
  /// What nobody has looked at yet.
  struct Unchecked {
    Numbers numbers;  ///< before it
    std::uint64_t steps = 0;
    Word sum = 0;  ///< of what was read
  };

  /// By other instructions than those that are checked.
  void undo(std::size_t word, Word number) const {
    for (Word* at = words_.memory + word; at != words_.memory + word + access_words_; ++at) {
      if (work_.access == Access::update) {
        *at ^= number;
      } else {
        __atomic_fetch_sub(at, number, __ATOMIC_RELAXED);
      }
    }
  }
  /// Who comes last looks at the memory of all.
  bool all_have_undone() const {
    if (control_bytes(work_) == 0) return true;
    Word& undone = words_.memory[words_.count];
    return __atomic_add_fetch(&undone, 1, __ATOMIC_ACQ_REL) % work_.workers == 0;
  }

  RandomParameters work_;
  std::size_t access_words_;
  IndexedWords words_;
  std::size_t places_ = 0;
  Numbers numbers_;
  mutable Unchecked unchecked_;
};

constexpr std::array<std::pair<Access, const char*>, 4> kernel_words{
    {{Access::read, "random-read"},
     {Access::write, "random-write"},
     {Access::update, "random-update"},
     {Access::atomic, "random-atomic"}}};

const char* name_of(Access access) {
  return std::ranges::find(kernel_words, access, &std::pair<Access, const char*>::first)->second;
}

KernelTraits traits_of(Access access) {
  return {.reads = access != Access::write,
          .writes = access != Access::read,
          .in_place = access == Access::update || access == Access::atomic,
          .in_files = false};
}

/// Whole lines, read and written; what is only written is fetched before.
Traffic traffic_of_random(const KernelSpec& spec) {
  const auto& work = spec.as<RandomParameters>();
  const std::size_t bytes = std::max<std::size_t>(work.bytes, access_line);
  const KernelTraits traits = traits_of(work.access);
  return {traits.reads ? bytes : 0, traits.writes ? bytes : 0, traits.reads ? 0 : bytes};
}

SimulatedStep simulated_random(const KernelSpec& spec, std::size_t) {
  const auto& work = spec.as<RandomParameters>();
  SimulatedStep step;
  step.at_random = true;
  // Locked operations of today's CPUs go one after the other.
  step.under_way = work.access == Access::atomic ? 1 : 16;
  return step;
}

KernelKind kind_of_random(Access access) {
  RandomParameters usual;
  usual.access = access;
  return {
      .usual = usual,
      .traits = traits_of(access),
      .make = made<RandomKernel>,
      .check_size = [](const KernelSpec& spec,
                       Bytes size) { return check_random_size(spec.as<RandomParameters>(), size); },
      .traffic = traffic_of_random,
      .simulated = simulated_random,
      .preparation = {.fill = 0.5, .warm = 0.6, .check = 0.4}};  // every access is undone
}

}  // namespace

const char* RandomParameters::name() const { return name_of(access); }

std::vector<KernelKind> RandomParameters::kinds() {
  std::vector<KernelKind> kinds;
  for (const Access access : {Access::read, Access::write, Access::update, Access::atomic})
    kinds.push_back(kind_of_random(access));
  return kinds;
}

double used_share(const RandomParameters& work) {
  return std::min(1.0, static_cast<double>(work.bytes) / static_cast<double>(access_line));
}

}  // namespace numatlas

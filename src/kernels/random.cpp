#include "kernels/random.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/kind.h"
#include "kernels/permutation.h"

namespace numatlas {
namespace {

using Word = std::uint64_t;
constexpr std::size_t access_line = 64;
constexpr std::size_t words_per_line = access_line / sizeof(Word);

// Streams whose accesses wait for nothing: enough to hide the arithmetic of each.
constexpr unsigned usual_streams = 8;

/// Pseudo-random numbers whose high bits choose places: a linear congruential generator modulo 2^64
/// (its multiplier: Steele & Vigna, 2021), two instructions a number.
struct Stream {
  Word state = 0;
  Word next() { return state = state * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15; }
};

/// The place among `places` that a number of 64 bits chooses, without a division (Lemire, 2019).
std::size_t place_of(Word number, std::size_t places) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>((static_cast<Wide>(number) * places) >> 64);
}

/// Before all accesses each word holds its own index; this is what writes leave there.
Word written(std::size_t index) { return ~Word{index}; }

/// What one call of `run` does.
struct Call {
  Word* memory = nullptr;
  std::size_t places = 0;
  std::span<Stream> streams;
  std::uint64_t rounds = 0;
  Word factor = 1;  ///< of what atomic additions add: -1 undoes them
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
// where no arithmetic lies between them. They take a small part of the first-level cache.
constexpr std::size_t block_accesses = 1024;
struct Block {
  std::array<Word, block_accesses> numbers;
  std::array<Word*, block_accesses> places;
};

/// Reads the words at so many places, of several streams in turn, each of which waits for what it
/// has read before. The sums are in registers, so that little lies between two reads.
template <std::size_t count>
void read_in_turn(Word* const* places, std::size_t accesses, Word zero, Word* sums) {
  std::array<Word, count> mine{};
  std::copy_n(sums, count, mine.begin());
  for (std::size_t i = 0; i < accesses; i += count)
#pragma GCC unroll 16
    for (std::size_t j = 0; j < count; ++j) mine[j] += places[i + j][mine[j] & zero];
  std::copy_n(mine.begin(), count, sums);
}

/// The same of a number of streams that has a loop of its own; false of others.
bool read_in_turn(std::size_t count, Word* const* places, std::size_t accesses, Word zero,
                  Word* sums) {
  switch (count) {
    case 1: return read_in_turn<1>(places, accesses, zero, sums), true;
    case 2: return read_in_turn<2>(places, accesses, zero, sums), true;
    case 4: return read_in_turn<4>(places, accesses, zero, sums), true;
    case 8: return read_in_turn<8>(places, accesses, zero, sums), true;
    case 16: return read_in_turn<16>(places, accesses, zero, sums), true;
    default: return false;
  }
}

/// Returns the sum of what was read. `waits`: the address of an access needs what the stream has
/// read before, as far as the core knows.
template <Access access, std::size_t words, bool waits>
Word go(const Call& call) {
  constexpr bool puts_in = access == Access::update || access == Access::atomic;
  const std::size_t count = call.streams.size();
  Block block;
  std::array<Word, most_chains> sums{};  // of the streams
  Word zero = 0;
  asm volatile("" : "+r"(zero));
  for (std::uint64_t left = call.rounds; left > 0;) {
    const std::size_t rounds = std::min<std::uint64_t>(left, block_accesses / count);
    left -= rounds;
    for (std::size_t i = 0; i < rounds * count; i += count) {
      for (std::size_t j = 0; j < count; ++j) {
        const Word number = call.streams[j].next();
        if constexpr (puts_in) block.numbers[i + j] = number * call.factor;
        block.places[i + j] = call.memory + place_of(number, call.places) * words;
      }
    }
    const auto access_at = [&](std::size_t i, std::size_t more) {
      Word* const place = block.places[i] + more;
      return touch<access, words>(place, static_cast<std::size_t>(place - call.memory),
                                  puts_in ? block.numbers[i] : 0);
    };
    if constexpr (!waits) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < rounds * count; ++i) sums[0] += access_at(i, 0);
      continue;
    }
    if constexpr (access == Access::read && words == 1) {
      if (read_in_turn(count, block.places.data(), rounds * count, zero, sums.data())) continue;
    }
    for (std::size_t i = 0; i < rounds * count; i += count) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < count; ++j) sums[j] += access_at(i + j, sums[j] & zero);
    }
  }
  return std::accumulate(sums.begin(), sums.end(), Word{0});
}

template <Access access, std::size_t words>
Word go(bool waits, const Call& call) {
  return waits ? go<access, words, true>(call) : go<access, words, false>(call);
}

template <Access access>
Word go(std::size_t words, bool waits, const Call& call) {
  switch (words) {
    case 1: return go<access, 1>(waits, call);
    case 2: return go<access, 2>(waits, call);
    case 4: return go<access, 4>(waits, call);
    case 8: return go<access, 8>(waits, call);
    case 16: return go<access, 16>(waits, call);
    default: return go<access, 32>(waits, call);
  }
}

Word go(Access access, std::size_t words, bool waits, const Call& call) {
  switch (access) {
    case Access::write: return go<Access::write>(words, false, call);
    case Access::update: return go<Access::update>(words, waits, call);
    case Access::atomic: return go<Access::atomic>(words, waits, call);
    default: return go<Access::read>(words, waits, call);
  }
}

/// Memory whose words hold their indices unless an access changes them, and the look at it.
struct Words {
  Word* memory = nullptr;
  std::size_t count = 0;

  Expected<void> fill() const {
    return fill_in_pieces(count, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) memory[i] = i;
    });
  }
  /// Puts back what a write must have changed; counts it as wrong where it did not.
  void put_back(std::size_t i, std::uint64_t& wrong) const {
    wrong += memory[i] == written(i) ? 0 : 1;
    memory[i] = i;
  }
  /// Once all changes are undone. `wrong`: words that were wrong before.
  Expected<void> look(const char* kernel, std::uint64_t wrong, bool right_sum) const {
    for (std::size_t i = 0; i < count; ++i) wrong += memory[i] == i ? 0 : 1;
    if (wrong > 0) {
      return fail(
          ErrorKind::internal,
          fmt::format("kernel {}: {} of {} words are wrong (error rate {:.1e})", kernel, wrong,
                      count, static_cast<double>(wrong) / static_cast<double>(count)));
    }
    if (right_sum) return {};
    return fail(
        ErrorKind::internal,
        fmt::format("kernel {}: the sum of what was read is not that of the memory", kernel));
  }
};

/// The last line of shared memory counts the workers that have undone their updates.
std::size_t control_bytes(const RandomParameters& work) {
  return work.access == Access::atomic ? access_line : 0;
}

Expected<void> check_random_size(const RandomParameters& work, Bytes size) {
  const Bytes least{std::size_t{work.bytes} + control_bytes(work)};
  if (size >= least) return {};
  return fail_usage("--size", fmt::format("{} do not hold one access of {} bytes (at least {})",
                                          to_text(size), work.bytes, to_text(least)));
}

class RandomKernel final : public Kernel {
 public:
  explicit RandomKernel(const KernelSpec& spec)
      : work_(spec.as<RandomParameters>()), access_words_(work_.bytes / sizeof(Word)) {
    std::uint64_t state = spec.seed;
    for (unsigned i = 0; i < work_.streams(); ++i) streams_.push_back({split_mix(state)});
    unchecked_.streams = streams_;
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
    unchecked_.sum += go(work_.access, access_words_, work_.in_flight > 0, call(streams_, steps));
    unchecked_.rounds += steps;
  }
  void run_ahead(std::uint64_t steps) override {
    unchecked_.sum += go(work_.access, access_words_, false, call(streams_, steps));
    unchecked_.rounds += steps;
  }

  std::uint64_t steps_per_pass() const override {
    return std::max<std::uint64_t>(1, places_ / streams_.size());
  }

  /// Comes by the same places once more: adds up what lies there, or undoes what was done.
  Expected<void> verify() const override {
    Unchecked& done = unchecked_;
    std::vector<bool> put_back(work_.access == Access::write ? places_ : 0);
    Word sum = 0;
    std::uint64_t wrong = 0;
    const auto again = [&](std::size_t first, std::size_t end) {
      if (work_.access == Access::update || work_.access == Access::atomic) {
        Call undo = call(done.streams, end - first);
        undo.factor = work_.access == Access::atomic ? ~Word{0} : 1;
        go(work_.access, access_words_, false, undo);
        return;
      }
      for (std::size_t round = first; round < end; ++round) {
        for (Stream& stream : done.streams) {
          const std::size_t place = place_of(stream.next(), places_), word = place * access_words_;
          sum += access_words_ * word + access_words_ * (access_words_ - 1) / 2;
          if (put_back.empty() || put_back[place]) continue;
          put_back[place] = true;
          for (std::size_t i = word; i < word + access_words_; ++i) words_.put_back(i, wrong);
        }
      }
    };
    if (!fill_in_pieces(done.rounds, again)) return {};  // stopped: nobody asks any more
    const bool right = work_.access != Access::read || sum == done.sum;
    done = {streams_};
    if (!all_have_undone()) return {};
    return words_.look(work_.name(), wrong, right);
  }

 private:
  /// What nobody has looked at yet.
  struct Unchecked {
    std::vector<Stream> streams;  ///< before it
    std::uint64_t rounds = 0;
    Word sum = 0;  ///< of what was read
  };

  Call call(std::vector<Stream>& streams, std::uint64_t rounds) const {
    return {words_.memory, places_, streams, rounds};
  }
  /// Who comes last looks at the memory of all.
  bool all_have_undone() const {
    if (control_bytes(work_) == 0) return true;
    Word& undone = words_.memory[words_.count];
    return __atomic_add_fetch(&undone, 1, __ATOMIC_ACQ_REL) % work_.workers == 0;
  }

  RandomParameters work_;
  std::size_t access_words_;
  Words words_;
  std::size_t places_ = 0;
  std::vector<Stream> streams_;
  mutable Unchecked unchecked_;
};

Expected<void> check_pattern_size(const PatternParameters& work, Bytes size) {
  const std::uint64_t most = work.largest_index();
  if (size.value / sizeof(Word) > most) return {};
  return fail_usage(
      "--pattern",
      fmt::format("its largest index, {}, is outside the memory of {} (words of 8 bytes)", most,
                  to_text(size)),
      "choose a larger --size");
}

/// Gathers by the usual number of indices, which then are in registers: at so many starts, and at
/// as many behind them.
constexpr std::size_t usual_indices = 8;
void gather_usual(const Word* base, const std::uint64_t* indices, std::size_t delta,
                  std::uint64_t starts, std::array<Word, 4>& sums) {
  std::array<std::uint64_t, usual_indices> at{};
  std::copy_n(indices, usual_indices, at.begin());
  const Word* behind = base + starts * delta;
  for (std::uint64_t start = 0; start < starts; ++start, base += delta, behind += delta) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < usual_indices; ++i) {
      sums[i % 2] += base[at[i]];
      sums[2 + i % 2] += behind[at[i]];
    }
  }
}

class PatternKernel final : public Kernel {
 public:
  explicit PatternKernel(const KernelSpec& spec) : work_(spec.as<PatternParameters>()) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_pattern_size(work_, Bytes{memory.bytes}));
    words_ = {reinterpret_cast<Word*>(memory.data), memory.bytes / sizeof(Word)};
    starts_ = (words_.count - work_.largest_index() - 1) / work_.delta + 1;
    return memory.filled ? Expected<void>{} : words_.fill();
  }

  void run(std::uint64_t steps) override {
    done_ += steps;
    while (steps > 0) {
      const std::uint64_t here = std::min(steps, starts_ - next_);
      work_.access == Access::gather ? gather(here) : scatter(here);
      steps -= here;
      next_ = (next_ + here) % starts_;
    }
  }

  std::uint64_t steps_per_pass() const override { return starts_; }

  Expected<void> verify() const override {
    Word sum = 0, indices = 0;
    for (const std::uint64_t index : work_.indices) indices += index;
    std::uint64_t wrong = 0;
    std::vector<bool> put_back(work_.access == Access::scatter ? words_.count : 0);
    const auto again = [&](std::size_t first, std::size_t end) {
      for (std::size_t start = first; start < end; ++start) {
        const std::size_t base = start * work_.delta;
        // Starts before the next one had one visit more than whole passes.
        const std::uint64_t visits = done_ / starts_ + (start < next_ ? 1 : 0);
        sum += visits * (work_.indices.size() * base + indices);
        for (std::size_t i = 0; visits > 0 && !put_back.empty() && i < work_.indices.size(); ++i) {
          const std::size_t word = base + work_.indices[i];
          if (!put_back[word]) words_.put_back(word, wrong);
          put_back[word] = true;
        }
      }
    };
    if (!fill_in_pieces(starts_, again)) return {};
    const bool right = work_.access == Access::scatter || sum == sum_;
    // What was written is put back: as if nothing had been done yet.
    if (work_.access == Access::scatter) done_ = next_ = 0;
    return words_.look(work_.name(), wrong, right);
  }

 private:
  /// Adds up `steps` gathers from two places by turns: prefetchers stop at the end of a page.
  void gather(std::uint64_t steps) {
    const std::uint64_t* const indices = work_.indices.data();
    const std::size_t count = work_.indices.size(), delta = work_.delta, apart = steps / 2 * delta;
    const Word* base = words_.memory + next_ * delta;
    std::array<Word, 4> sums{};
    if (count == usual_indices) {
      gather_usual(base, indices, delta, steps / 2, sums);
    } else {
      for (std::uint64_t start = 0; start < apart; start += delta) {
        for (std::size_t i = 0; i < count; ++i) {
          const Word* const at = base + start + indices[i];
          sums[i % 2] += at[0];
          sums[2 + i % 2] += at[apart];
        }
      }
    }
    if (steps % 2 == 1) {
      for (std::size_t i = 0; i < count; ++i) sums[0] += base[2 * apart + indices[i]];
    }
    for (const Word sum : sums) sum_ += sum;
  }
  void scatter(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::size_t base = (next_ + step) * work_.delta;
      for (const std::uint64_t index : work_.indices)
        words_.memory[base + index] = written(base + index);
    }
  }

  PatternParameters work_;
  Words words_;
  std::uint64_t starts_ = 0;  ///< of steps, from the first word to the last that has room
  mutable std::uint64_t next_ = 0, done_ = 0;  ///< start of the next step; steps so far
  Word sum_ = 0;
};

constexpr std::array<std::pair<Access, const char*>, 6> kernel_words{
    {{Access::read, "random-read"},
     {Access::write, "random-write"},
     {Access::update, "random-update"},
     {Access::atomic, "random-atomic"},
     {Access::gather, "random-gather"},
     {Access::scatter, "random-scatter"}}};

const char* name_of(Access access) {
  return std::ranges::find(kernel_words, access, &std::pair<Access, const char*>::first)->second;
}

KernelTraits traits_of(Access access) {
  return {.reads = access != Access::write && access != Access::scatter,
          .writes = access != Access::read && access != Access::gather,
          .in_place = access == Access::update || access == Access::atomic,
          .in_files = false};
}

/// Whole lines, read and written; what is only written is fetched before.
Traffic traffic_of_random(const KernelSpec& spec) {
  const auto& work = spec.as<RandomParameters>();
  const std::size_t bytes = std::max<std::size_t>(work.bytes, access_line) * work.streams();
  const KernelTraits traits = traits_of(work.access);
  return {traits.reads ? bytes : 0, traits.writes ? bytes : 0, traits.reads ? 0 : bytes};
}

/// The words of the indices, as Spatter counts them.
Traffic traffic_of_pattern(const KernelSpec& spec) {
  const auto& work = spec.as<PatternParameters>();
  const std::size_t bytes = work.indices.size() * sizeof(Word);
  const bool writes = work.access == Access::scatter;
  return {writes ? 0 : bytes, writes ? bytes : 0, writes ? bytes : 0};
}

SimulatedStep simulated_random(const KernelSpec& spec, std::size_t) {
  const auto& work = spec.as<RandomParameters>();
  SimulatedStep step;
  step.at_random = true;
  step.times = work.streams();
  // Locked operations of today's CPUs go one after the other.
  step.under_way = work.access == Access::atomic ? 1
                   : work.in_flight > 0          ? work.in_flight
                                                 : 2 * usual_streams;
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
      .preparation = {.warm = 2}};
}

KernelKind kind_of_pattern(Access access) {
  PatternParameters usual;
  usual.access = access;
  return {.usual = usual,
          .traits = traits_of(access),
          .make = made<PatternKernel>,
          .check_size =
              [](const KernelSpec& spec, Bytes size) {
                return check_pattern_size(spec.as<PatternParameters>(), size);
              },
          .traffic = traffic_of_pattern};
}

}  // namespace

unsigned RandomParameters::streams() const { return in_flight > 0 ? in_flight : usual_streams; }
const char* RandomParameters::name() const { return name_of(access); }
const char* PatternParameters::name() const { return name_of(access); }
std::uint64_t PatternParameters::largest_index() const {
  return *std::ranges::max_element(indices);
}

std::vector<KernelKind> RandomParameters::kinds() {
  std::vector<KernelKind> kinds;
  for (const Access access : {Access::read, Access::write, Access::update, Access::atomic})
    kinds.push_back(kind_of_random(access));
  return kinds;
}

std::vector<KernelKind> PatternParameters::kinds() {
  return {kind_of_pattern(Access::gather), kind_of_pattern(Access::scatter)};
}

double used_share(const PatternParameters& pattern) {
  // Steps whose words and lines are counted.
  constexpr std::uint64_t most_words = 1 << 16;
  const std::uint64_t steps = most_words / pattern.indices.size() + 1;
  std::vector<Word> words;
  for (std::uint64_t step = 0; step < steps; ++step)
    for (const std::uint64_t index : pattern.indices) words.push_back(step * pattern.delta + index);
  const auto distinct = [](std::vector<Word>& all) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return static_cast<double>(all.size());
  };
  const double used = distinct(words);
  for (std::uint64_t& word : words) word /= words_per_line;
  return used / (static_cast<double>(words_per_line) * distinct(words));
}

}  // namespace numatlas

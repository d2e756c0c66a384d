// Gathers and scatters by a pattern of indices.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/indexed_words.h"
#include "kernels/kind.h"
#include "kernels/random.h"

namespace numatlas {
namespace {

using Word = std::uint64_t;

Expected<void> check_pattern_size(const PatternParameters& work, Bytes size) {
  const std::uint64_t most = work.largest_index();
  const std::uint64_t words = size.value / sizeof(Word);
  if (words <= most)
    return fail_usage(
        "--pattern",
        fmt::format("its largest index, {}, is outside the memory of {} (words of 8 bytes)", most,
                    to_text(size)),
        "choose a larger --size");
  if (work.delta >= words - most && work.delta > most + 1)
    return fail_usage("--delta",
                      fmt::format("the second start, {} words behind the first, is outside the "
                                  "memory of {}",
                                  work.delta, to_text(size)),
                      "choose a larger --size or a smaller delta");
  return {};
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
  IndexedWords words_;
  std::uint64_t starts_ = 0;  ///< of steps, from the first word to the last that has room
  mutable std::uint64_t next_ = 0, done_ = 0;  ///< start of the next step; steps so far
  Word sum_ = 0;
};

/// The words of the indices, as Spatter counts them.
Traffic traffic_of_pattern(const KernelSpec& spec) {
  const auto& work = spec.as<PatternParameters>();
  const std::size_t bytes = work.indices.size() * sizeof(Word);
  const bool writes = work.access == Access::scatter;
  return {writes ? 0 : bytes, writes ? bytes : 0, writes ? bytes : 0};
}

KernelKind kind_of_pattern(Access access) {
  PatternParameters usual;
  usual.access = access;
  return {.usual = usual,
          .traits = {.reads = access == Access::gather,
                     .writes = access == Access::scatter,
                     .in_files = false},
          .make = made<PatternKernel>,
          .check_size =
              [](const KernelSpec& spec, Bytes size) {
                return check_pattern_size(spec.as<PatternParameters>(), size);
              },
          .traffic = traffic_of_pattern};
}

}  // namespace

const char* PatternParameters::name() const {
  return access == Access::gather ? "random-gather" : "random-scatter";
}
std::uint64_t PatternParameters::largest_index() const {
  return *std::ranges::max_element(indices);
}

std::vector<KernelKind> PatternParameters::kinds() {
  return {kind_of_pattern(Access::gather), kind_of_pattern(Access::scatter)};
}

double used_share(const PatternParameters& pattern) {
  constexpr std::size_t words_per_line = access_line / sizeof(Word);
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
  for (Word& word : words) word /= words_per_line;
  return used / (static_cast<double>(words_per_line) * distinct(words));
}

}  // namespace numatlas

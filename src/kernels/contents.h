// What the loops over lines put into memory, and the look at it afterwards.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"

namespace numatlas {

/// What stands in each word of an array: a multiple of a pattern, and a constant. Words differ
/// within 512 KiB, so that what went to a wrong place shows; they are short enough for small
/// multiples of them to be exact.
struct Content {
  double multiple = 0, constant = 0;
  /// Calls `use(word)` with the function that gives words by their number modulo the length of the
  /// pattern: the simplest, as emulated machines take their time for each operation, and looking at
  /// all of the memory may take longer than measuring it.
  template <class Use>
  void with_words(const Use& use) const {
    // 1 + phase / 2^16, by its bits.
    const auto pattern = [](std::uint32_t phase) {
      return std::bit_cast<double>(0x3ff0'0000'0000'0000U + (std::uint64_t{phase} << 36U));
    };
    if (multiple == 1 && constant == 0)
      use(pattern);
    else if (multiple == 0)
      use([this](std::uint32_t) { return constant; });
    else
      use([this, pattern](std::uint32_t phase) { return multiple * pattern(phase) + constant; });
  }
};
inline constexpr std::uint32_t pattern_length =
    65'521;  // a prime: no power of two hides a shift by itself
inline constexpr Content untouched{0, -1};

/// Calls `stretch(first word, words, phase of the first)` for stretches of [word, end) in which the
/// pattern does not begin anew: no division, so that compilers vectorise their loops.
template <class Stretch>
void by_pattern(std::size_t word, std::size_t end, const Stretch& stretch) {
  while (word < end) {
    const auto phase = static_cast<std::uint32_t>(word % pattern_length);
    const std::size_t words = std::min<std::size_t>(end - word, pattern_length - phase);
    stretch(word, words, phase);
    word += words;
  }
}

inline void fill(double* array, std::size_t word, std::size_t end, const Content& content) {
  content.with_words([&](const auto& word_at) {
    by_pattern(word, end, [&](std::size_t first, std::size_t words, std::uint32_t phase) {
      for (std::uint32_t i = 0; i < words; ++i) array[first + i] = word_at(phase + i);
    });
  });
}

/// A look at what stands in memory.
struct Look {
  const char* kernel;
  double tolerance = 0;  ///< relative
  std::optional<Error> wrong{};

  /// Sum of the words' bits in [word, end) of array a, b or c. Notes the first of all words that
  /// is not that of `content`.
  std::uint64_t at(char name, const double* array, std::size_t word, std::size_t end,
                   const Content& content) {
    std::uint64_t sum = 0;
    // 0 where they are alike. Without comparisons, and with sums of its own, so that compilers
    // vectorise the loop.
    const auto unlike_near = [tolerance = tolerance](double found, double expected) {
      return std::uint64_t{!(std::abs(found - expected) <= tolerance * std::abs(expected))};
    };
    const auto unlike_bits = [](double found, double expected) {
      return std::bit_cast<std::uint64_t>(found) ^ std::bit_cast<std::uint64_t>(expected);
    };
    const auto look = [&](const auto& unlike, const auto& word_at) {
      by_pattern(word, end, [&](std::size_t first, std::size_t words, std::uint32_t phase) {
        std::uint64_t differ = 0, own_sum = 0;
        const double* const found = array + first;
        for (std::uint32_t i = 0; i < words; ++i) {
          differ |= unlike(found[i], word_at(phase + i));
          own_sum += std::bit_cast<std::uint64_t>(found[i]);
        }
        sum += own_sum;
        if (differ == 0 || wrong) return;
        std::uint32_t i = 0;
        while (unlike(found[i], word_at(phase + i)) == 0) ++i;
        wrong = Error{ErrorKind::internal,
                      fmt::format("kernel {}: {}[{}] is {} instead of {}", kernel, name, first + i,
                                  found[i], word_at(phase + i)),
                      ""};
      });
    };
    content.with_words([&](const auto& word_at) {
      if (tolerance == 0)
        look(unlike_bits, word_at);
      else
        look(unlike_near, word_at);
    });
    return sum;
  }
  /// `right`: whether the sum of what was read is that of the memory.
  Expected<void> result(bool right) const {
    if (wrong) return fail(*wrong);
    if (right) return {};
    return fail(
        ErrorKind::internal,
        fmt::format("kernel {}: the sum of what was read is not that of the memory", kernel));
  }
};

}  // namespace numatlas

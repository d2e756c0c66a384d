// Internal: memory whose words hold their indices, so that any access can be checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "kernels/filling.h"

namespace numatlas {

/// What an access moves at least.
inline constexpr std::size_t access_line = 64;

/// Before all accesses each word holds its own index; this is what writes leave there.
inline std::uint64_t written(std::size_t index) { return ~std::uint64_t{index}; }

/// Memory whose words hold their indices unless an access changes them, and the look at it.
struct IndexedWords {
  std::uint64_t* memory = nullptr;
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

}  // namespace numatlas

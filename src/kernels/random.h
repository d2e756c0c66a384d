// Accesses that do not wait for each other: at random places of the memory, and where the indices
// of a pattern say.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/traits.h"

namespace numatlas {

enum class Access {
  read,
  write,
  update,   ///< read, changed and written, as HPCC's RandomAccess has it
  atomic,   ///< the same by one atomic addition a word; the workers share the memory
  gather,   ///< reads what the indices name
  scatter,  ///< writes what the indices name
};

/// Aligned accesses of some bytes at places in random order, one a step.
struct RandomParameters {
  Access access = Access::read;  ///< not gather, scatter
  unsigned bytes = 8;            ///< of an access: a power of two from 8 to 256
  std::uint64_t workers = 1;     ///< that share the memory
  const char* name() const;      ///< "random-read"
  static std::vector<KernelKind> kinds();
  friend bool operator==(const RandomParameters&, const RandomParameters&) = default;
};
/// Accesses have from 8 to so many bytes.
inline constexpr unsigned longest_access = 256;

/// Words of 8 bytes in memory by their index, counted from the start of each step; each step starts
/// `delta` words after the one before, as Spatter has it.
struct PatternParameters {
  Access access = Access::gather;  ///< or scatter
  std::vector<std::uint64_t> indices{0, 1, 2, 3, 4, 5, 6, 7};
  std::uint64_t delta = 8;
  std::uint64_t largest_index() const;
  const char* name() const;  ///< "random-gather"
  static std::vector<KernelKind> kinds();
  friend bool operator==(const PatternParameters&, const PatternParameters&) = default;
};

/// The share of the cache lines it moves that a pattern uses.
double used_share(const PatternParameters& pattern);
double used_share(const RandomParameters& work);

}  // namespace numatlas

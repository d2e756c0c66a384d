// Which vectors a loop is fastest with. From memory these are not always the widest: a core has
// room for only so many lines under way, and wide stores fill that sooner.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "placement/placement.h"

namespace numatlas {

/// What was found for a loop.
struct VectorWidth {
  std::string kernel;         ///< "triad", "mix 2:1"
  std::string stores;         ///< "" for kernels that do not write
  std::string pages;          ///< as asked for
  std::uint64_t workers = 0;  ///< that ran it together; 0: all of the run
  unsigned width = 0;         ///< bytes; 0: the widest, as none could be tried
  std::vector<unsigned> tried{};
  /// Whether it is the same loop under the same conditions.
  bool same_loop(const VectorWidth& other) const;
  friend bool operator==(const VectorWidth&, const VectorWidth&) = default;
};

/// The loop that a kernel makes of an operation, without a width.
VectorWidth loop_of(const KernelSpec& spec, Operation operation, PageKind pages,
                    std::uint64_t workers);

/// A width and how long a step took with it.
using WidthTime = std::pair<unsigned, double>;
/// Of turns that each begin with the widest: the width with the least median ratio to that of its
/// turn; the widest where no other is more than 1 % faster; 0 for no times.
unsigned fastest_width(const std::vector<WidthTime>& times);

}  // namespace numatlas

// Filling memory that may take minutes.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/signals.h"

namespace numatlas {

/// Calls fill(first, end) for one piece of [0, count) after the other. Error (interrupted) when a
/// stop is asked for meanwhile.
template <class Fill>
Expected<void> fill_in_pieces(std::size_t count, const Fill& fill) {
  constexpr std::size_t piece = std::size_t{1} << 17;
  for (std::size_t first = 0; first < count; first += std::min(piece, count - first)) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    fill(first, first + std::min(piece, count - first));
  }
  return {};
}

}  // namespace numatlas

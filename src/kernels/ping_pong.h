// The two sides of a line that two CPUs hand to each other, or of several that they take in turn,
// each for a while. A step of the asking side is a round trip; a step of the answering side is a
// look at the line, so that it can be ended at any time.
#pragma once

#include <vector>

#include "base/units.h"
#include "kernels/traits.h"

namespace numatlas {

/// Most lines that a ping-pong uses in turn: they are of one huge page at most.
inline constexpr unsigned most_ping_pong_lines = 4096;

struct PingPongParameters {
  bool by_exchange = true;  ///< compare-and-swap hands the line on, else a plain store
  bool answers = false;     ///< the other side
  unsigned lines = 1;       ///< used in turn
  const char* name() const {
    return by_exchange ? answers ? "cas answer" : "cas" : answers ? "store answer" : "store";
  }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const PingPongParameters&, const PingPongParameters&) = default;
};
/// Bytes of memory that so many lines take.
Bytes ping_pong_bytes(unsigned lines);

}  // namespace numatlas

// STREAM's operations (McCalpin, "Memory bandwidth and machine balance in current high performance
// computers", 1995), plain reads, writes and updates, and mixes of reads and writes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "kernels/stream_loops.h"
#include "kernels/traits.h"

namespace numatlas {

const char* name_of(Operation operation);  ///< "copy"

/// One operation over the region: as many arrays as it takes lie in it one after the other. With a
/// source apart, the array that it writes fills the region and those that it reads lie in the
/// source. A step is a line of each array.
struct LoopParameters {
  Operation operation = Operation::read;  ///< not the mix
  const char* name() const { return name_of(operation); }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const LoopParameters&, const LoopParameters&) = default;
};

/// Reads and writes in a given proportion, in arrays of that proportion. A step is a turn: so many
/// lines of each.
struct MixParameters {
  unsigned reads = 2, writes = 1;
  static const char* name() { return "mix"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const MixParameters&, const MixParameters&) = default;
};
/// "2:1": lines read and written a step, each from 1 to 64. Errors name --mix.
Expected<MixParameters> parse_mix(std::string_view text);

/// When what was written to persistent memory is made to last: never, by each worker when it has
/// done its part of a pass, by one worker of the rank for all when all have, or block by block.
enum class Persist { none, individual, collective, per_block };
const char* name_of(Persist persist);  ///< "none", "individual", "collective", "per-block"

/// STREAM itself: arrays a, b and c; each pass does one operation to all of them, in turn:
/// c = a, b = s c, c = a + b, a = b + s c; a = value (write), sum of a (read: alone only). A step
/// is a line of each array; its traffic is that of the first operation.
struct PassesParameters {
  std::vector<Operation> passes{Operation::copy, Operation::scale, Operation::add,
                                Operation::triad};
  std::uint64_t array_lines = 0;  ///< of each array; 0: as many as fit
  Persist persist = Persist::none;
  static const char* name() { return "stream"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const PassesParameters&, const PassesParameters&) = default;
};
/// What a worker's region must hold for `lines` lines of 64 bytes of each of STREAM's arrays.
Bytes stream_region_bytes(std::uint64_t lines);

/// What an operation moves a line of its arrays.
Traffic traffic_of_line(Operation operation, Stores stores);

}  // namespace numatlas

// The inner loops of the kernels that move whole cache lines: vector code for every instruction set
// of the CPU family, the widest that the CPU at hand has chosen at run time (or the one asked for).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// What a loop does with line i of its arrays. Names as in STREAM, where it has one.
enum class Operation {
  read,    ///< sum of first
  write,   ///< first = value
  copy,    ///< first = second
  scale,   ///< first = value * second
  add,     ///< first = second + third
  triad,   ///< first = second + value * third
  update,  ///< first = first + value
  mix,     ///< by turns: sum of some lines of second, then as many lines of first = value
};

/// How stores leave the core. Regular ones first fetch the line (write-allocate); non-temporal
/// ones go past the caches.
enum class Stores { regular, non_temporal };
const char* name_of(Stores stores);  ///< "regular", "non-temporal"

/// One call of a loop: `lines` lines of 64 bytes from each array's current position.
struct LoopCall {
  Operation operation = Operation::read;
  Stores stores = Stores::regular;
  double* first = nullptr;
  const double* second = nullptr;
  const double* third = nullptr;
  double value = 0;
  std::size_t lines = 0;           ///< of mix: turns
  std::uint64_t again = 0;         ///< of read: so often more, without adding up
  unsigned reads = 0, writes = 0;  ///< lines a turn of mix
  unsigned width = 0;              ///< one of vector_widths(); others count as the widest
};

/// Runs the loop. `read` and `mix` give the sum, modulo 2^64, of the words that they read once,
/// taken as integers, the others 0. Arrays are aligned to lines. Non-temporal stores are visible to
/// all CPUs when it returns.
std::uint64_t run_loop(const LoopCall& call);

/// Instruction sets that this build and this CPU have, widest first: "AVX2", "SSE4", "NEON", ...
std::vector<std::string> instruction_sets();
/// The one in use.
std::string instruction_set();
/// Bytes of the vectors that it can use, widest first. From memory the widest are not always the
/// fastest. Only the widest of an instruction set that was asked for.
std::vector<unsigned> vector_widths();
/// Whether it has stores that go past the caches. Elsewhere Stores::non_temporal would be regular.
bool has_non_temporal_stores();
/// From now on this one (in any case of letters), or the widest for "". Not while loops run. Error
/// kinds: usage (no such set), unavailable (not on this CPU).
Expected<void> use_instruction_set(const std::string& name);

}  // namespace numatlas

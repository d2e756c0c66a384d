// A machine's processors by data/cpus.toml, and what that says of its memory modules.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.h"
#include "processors/tables.h"

namespace numatlas {

/// As much of a processor's name as any maker writes: files may have anything there, and
/// expressions recurse over it.
std::string bounded_model(const std::string& cpu_model);

struct Sockets {
  int count = 1;
  std::optional<int> cores;  ///< of each; nothing where they differ, or are unknown
};
Sockets sockets_of(const Machine& machine);

/// The row that fits the machine's processors; nullptr where none does.
const ProcessorRow* processor_of(const Machine& machine);

/// Holds what the names of the slots tell of sockets and channels against the machine's processors.
/// Slots that no processor is for are left out; where something does not agree, no channel is
/// known, and `memory_slots.problem` says why.
void check_channels(Machine& machine);

}  // namespace numatlas

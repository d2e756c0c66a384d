// What processors can carry: data/cpus.toml, which is part of the program; its head says what each
// key means. A machine's processors by it, and what that says of its memory modules.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "machine/machine.h"

namespace numatlas {

/// A row of data/cpus.toml: all of one socket.
struct ProcessorRow {
  std::string name;
  std::regex models;       ///< found in the kernel's name of the processor
  std::vector<int> cores;  ///< of a socket, one of these; empty: any
  std::string memory;      ///< "DDR5"
  std::optional<int> channels;
  std::optional<double> rate;      ///< transfers a second
  double peak = 0;                 ///< bytes a second of DRAM
  std::optional<double> hbm_peak;  ///< bytes a second
  std::string source;
};

/// Errors (usage) name the place, the key and what is wrong: "NAME:LINE:COLUMN: mts: ...".
Expected<std::vector<ProcessorRow>> parse_cpus(std::string_view text, const std::string& name);

/// The file as it was when the program was built.
const char* shipped_cpus_text();
/// The same, read once. A test reads it as well: it has no error.
const std::vector<ProcessorRow>& shipped_cpus();

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

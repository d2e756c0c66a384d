// The tables of data/: what processors can carry, and what others measured on them. Both are part
// of the program; the heads of the files say what each key means. A machine's processors by
// data/cpus.toml, and what that says of its memory modules.
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

/// A row of data/published.toml.
struct PublishedRow {
  std::string model;  ///< as processor_name() gives it
  int sockets = 1;
  std::optional<int> cores;  ///< of a socket
  std::optional<int> channels;
  std::optional<double> rate;  ///< transfers a second
  std::string kernel;
  double low = 0, high = 0;            ///< bytes a second of all sockets
  std::optional<double> idle_latency;  ///< seconds
  std::string conditions;
  bool is_virtual = false;
  std::string source, date;
};

/// Errors (usage) name the place, the key and what is wrong: "NAME:LINE:COLUMN: gbs: ...".
Expected<std::vector<ProcessorRow>> parse_cpus(std::string_view text, const std::string& name);
Expected<std::vector<PublishedRow>> parse_published(std::string_view text, const std::string& name);

/// The files as they were when the program was built.
const char* shipped_cpus_text();
const char* shipped_published_text();
/// The same, read once. A test reads them as well: they have no error.
const std::vector<ProcessorRow>& shipped_cpus();
const std::vector<PublishedRow>& shipped_published();

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

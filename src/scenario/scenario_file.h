// A file of scenarios (docs/scenarios.md): what a user writes for `numatlas run`. What a file may
// leave out is absent here; only the machine tells what it means (run/file_flows.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scenario.h"

namespace numatlas {

/// Where each key of a table stands ("two.toml:12:3"), for errors; "" is the table itself.
struct Places {
  std::map<std::string, std::string> of;
};

/// The error of a value, about its place and its key, whatever it was about (the parsers of the
/// command line name options).
Error error_at(const Places& places, const std::string& key, Error error);

/// An entry [[scenario.flow]]: the same flow on each of some CPUs.
struct FlowEntry {
  std::vector<CpuId> cpus;
  /// As far as the keys say it, and usual values for the rest. Who runs it, and where memory is, is
  /// beside it as the file has it.
  Flow flow;
  MemorySpec memory, source_memory;  ///< each: a CPU in turn
  CpuId first_touch;                 ///< whose thread touches the memory first
  CpuId shares;                      ///< of the flow whose memory it works on
  std::set<std::string> keys;  ///< that it has, but for CPUs and kernel; "source.size" of a source
  Places places;
  std::string kernel() const { return name_of(flow.kernel); }
  bool has(const std::string& key) const { return keys.contains(key); }
};
/// All keys that its kernel heeds, those of a source among them where it has one.
std::set<std::string> keys_that_apply(const FlowEntry& entry);

struct FileScenario {
  std::string name;
  std::optional<Nanoseconds> time;
  std::optional<double> precision;
  std::vector<FlowEntry> flows;
  Places places;
};

struct ScenarioFile {
  std::vector<CpuId> cpus;  ///< workers in this order; empty: as the flows name them
  std::vector<FileScenario> scenarios;
  Places places;
};

/// Reads and checks what can be checked without a machine. `name` is the file's in errors (kind
/// usage): "NAME:LINE:COLUMN: KEY: what is wrong".
Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name);
/// The same from a file, or from standard input for "-". Error kinds io and permission as well.
Expected<ScenarioFile> read_scenarios(const std::string& path);

/// What one flow of a scenario demands of the others: each CPU has one flow, shared memory has an
/// owner and kernels that agree on what stands in it, something is measured.
Expected<void> check_scenario(const FileScenario& scenario);

const char* name_of(Role role);
/// The role of a flow that names none.
Role default_role(const std::string& kernel);
/// The CPUs that flows run on, or whose threads touch memory, in the order of the file.
std::vector<CpuId> cpus_named(const ScenarioFile& file);

}  // namespace numatlas

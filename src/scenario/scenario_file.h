// A file of scenarios (docs/scenarios.md): what a user writes for `numatlas run`. What a file may
// leave out is absent here; only the machine tells what it means (run/file_flows.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

/// A value of each axis that a scenario names, in the order of the axes: {"node", "1"}.
using AxisValues = std::vector<std::pair<std::string, std::string>>;
/// `text` with its value for each "{axis}".
std::string with_values(std::string text, const AxisValues& values);

/// An entry [[scenario.flow]], or a flow in a line: the same flow on each of some CPUs.
struct FlowEntry {
  std::string cpus_asked;   ///< "0-3", "node:1"
  std::vector<CpuId> cpus;  ///< without a machine empty for words such as "node:1"
  int threads = 0;          ///< only so many of them
  bool idle = false;        ///< it does not run: with threads = 0, or rate = "idle"
  /// As far as the keys say it, and usual values for the rest. Who runs it, and where memory is, is
  /// beside it as the file has it.
  Flow flow;
  MemorySpec memory, source_memory;                    ///< each: a CPU in turn
  std::vector<MemoryPlacement> placed, source_placed;  ///< what they mean for each CPU of a machine
  CpuId first_touch;                                   ///< whose thread touches the memory first
  CpuId shares;                                        ///< of the flow whose memory it works on
  std::optional<double> rate_part;  ///< of what its CPUs reach alone, instead of flow.rate
  std::set<std::string> keys;  ///< that it has, but for CPUs and kernel; "source.size" of a source
  Places places;
  std::string kernel() const { return name_of(flow.kernel); }
  bool has(const std::string& key) const { return keys.contains(key); }
};
/// In a line, as parse_flows reads it: "read cpu:8-15 mem:1 rate:50%".
std::string flow_text(const FlowEntry& entry);
/// The keys that its kernel heeds, and their values in a line, in its order.
std::vector<std::pair<std::string, std::string>> words_of(const FlowEntry& entry);
/// All keys that its kernel heeds, those of a source among them where it has one.
std::set<std::string> keys_that_apply(const FlowEntry& entry);

struct FileScenario {
  std::string name;   ///< with the values of its axes
  std::string title;  ///< without
  AxisValues values;
  std::optional<Error> skip;  ///< why this machine cannot measure it
  std::optional<Nanoseconds> time;
  std::optional<double> precision;
  std::vector<FlowEntry> flows;
  Places places;
};

struct ScenarioFile {
  std::vector<CpuId> cpus;              ///< workers in this order; empty: as the flows name them
  std::vector<FileScenario> scenarios;  ///< each once for each of the values of its axes
  Places places;
};

/// Reads and checks. `name` is the file's in errors (kind usage): "NAME:LINE:COLUMN: KEY: what is
/// wrong". What `machine` does not have is an error (unavailable, permission) too, but a skip of a
/// scenario with axes; without a machine nobody looks, and the axis "nodes" has node 0.
Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name,
                                       const Machine* machine = nullptr);
/// The same of flows in a line, "chase cpu:4 mem:0 + read cpu:8-15 mem:1": one scenario.
Expected<ScenarioFile> parse_flows(const std::string& text, const Machine* machine = nullptr);
/// The text of a file, or of standard input for "-". Error kinds io and permission.
Expected<std::string> read_scenario_text(const std::string& path);

/// What one flow of a scenario demands of the others: each CPU has one flow, shared memory has an
/// owner and kernels that agree on what stands in it, something is measured.
Expected<void> check_scenario(const FileScenario& scenario);

const char* name_of(Role role);
/// The role of a flow that names none.
Role default_role(const std::string& kernel);
/// The CPUs that flows run on, or whose threads touch memory, in the order of the file.
std::vector<CpuId> cpus_named(const ScenarioFile& file);

}  // namespace numatlas

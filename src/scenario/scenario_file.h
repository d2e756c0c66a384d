// A file of scenarios (docs/scenarios.md): what a user writes for `numatlas run`, and what
// --print-scenario writes of any benchmark's plan. What a file may leave out is absent here; only
// the machine tells what it means (run/file_flows.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/scenario.h"

namespace numatlas {

/// Where each key of a table stands ("two.toml:12:3"), for errors; "" is the table itself. No part
/// of what the table says.
struct Places {
  std::map<std::string, std::string> of;
  friend bool operator==(const Places&, const Places&) { return true; }
};

/// The error of a value, about its place and its key, whatever it was about (the parsers of the
/// command line name options).
Error error_at(const Places& places, const std::string& key, Error error);

/// Memory that a flow only reads.
struct FileSource {
  std::optional<Bytes> size;  ///< absent only of a GPU's copy, whose sides are alike
  std::optional<std::string> memory;
  std::optional<PageKind> pages;
  Places places;
  friend bool operator==(const FileSource&, const FileSource&) = default;
};

/// The same flow on each of some CPUs.
struct FileFlow {
  std::vector<CpuId> cpus;
  std::string kernel;
  std::optional<Bytes> size;          ///< absent only where it shares memory
  std::optional<std::string> memory;  ///< in the grammar's words, checked; each: a CPU in turn
  std::optional<PageKind> pages;
  std::optional<FileSource> source;
  std::optional<ChainOrder> order;
  std::optional<Bytes> stride, window;
  std::optional<std::uint64_t> seed;  ///< of the first CPU, one more for each further
  std::optional<bool> verify_full;
  std::optional<unsigned> chains, lines;  ///< of a chase; of the ping-pong
  std::optional<Stores> stores;
  std::optional<std::pair<unsigned, unsigned>> mix;
  std::optional<int> gpu;  ///< whose work it is; of a copy it may be left out
  std::optional<Pinning> pin;
  std::optional<int> depth;
  std::optional<std::uint64_t> copies, loads;
  std::optional<HostCaches> caches;
  std::optional<CpuId> first_touch;  ///< CPU whose thread touches the memory first
  std::optional<CpuId> shares;       ///< CPU of the flow whose memory it works on
  std::optional<Role> role;
  std::optional<double> rate;  ///< B/s
  std::optional<Bytes> warm_up;
  Places places;
  friend bool operator==(const FileFlow&, const FileFlow&) = default;
};

struct FileScenario {
  std::string name;
  std::optional<Nanoseconds> time;
  std::optional<double> precision;
  std::optional<bool> to_the_end;
  std::vector<FileFlow> flows;  ///< none: when written, its comment is all there is of it
  std::string comment;          ///< a line before it, when written; not read
  Places places;
  friend bool operator==(const FileScenario&, const FileScenario&) = default;
};

struct ScenarioFile {
  std::vector<CpuId> cpus;  ///< workers in this order; empty: as the flows name them
  std::vector<FileScenario> scenarios;
  Places places;
  friend bool operator==(const ScenarioFile&, const ScenarioFile&) = default;
};

/// Reads and checks what can be checked without a machine. `name` is the file's in errors (kind
/// usage): "NAME:LINE:COLUMN: KEY: what is wrong".
Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name);
/// The same from a file, or from standard input for "-". Error kinds io and permission as well.
Expected<ScenarioFile> read_scenarios(const std::string& path);

/// What one flow of a scenario demands of the others: each CPU has one flow, shared memory has an
/// owner and kernels that agree on what stands in it, something is measured.
Expected<void> check_scenario(const FileScenario& scenario);

/// Inverse of parse_scenarios. `head`: lines of a comment before all.
std::string text_of(const ScenarioFile& file, const std::vector<std::string>& head);

/// What a flow of a GPU demands; that others leave GPUs' memory alone. Part of check_scenario.
Expected<void> check_device_flow(const FileFlow& flow);

const char* name_of(Role role);
/// N of "gpu:N"; -1 for any other placement or none.
int gpu_in(const std::optional<std::string>& memory);
/// The GPUs that a "device copy" is from and to; -1: memory of the host.
struct GpusOfCopy {
  int from = -1, to = -1;
  /// Whose work it is, as src/gpu has it: that of the GPU copied from, else to.
  int worker() const { return from >= 0 ? from : to; }
};
GpusOfCopy gpus_of_copy(const FileFlow& flow);
/// The GPU whose work the flow is; -1: a CPU's.
int gpu_of_flow(const FileFlow& flow);
/// An error at the first key that names this GPU.
Error error_at_gpu(const FileFlow& flow, int gpu, const Error& error);
/// The role of a flow that names none.
Role default_role(const std::string& kernel);
/// Where StopRule::to_the_end is not said: a scenario whose flows have a bandwidth to be summed.
bool default_to_the_end(const std::vector<FileFlow>& flows);
/// The CPUs that flows run on, or whose threads touch memory, in the order of the file.
std::vector<CpuId> cpus_named(const ScenarioFile& file);

}  // namespace numatlas

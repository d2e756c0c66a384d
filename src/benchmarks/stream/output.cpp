#include "benchmarks/stream/output.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/version.h"
#include "benchmarks/runner.h"
#include "fleet/fleet_json.h"
#include "kernels/stream_loops.h"
#include "report/file.h"
#include "report/fleet_dat.h"
#include "report/fleet_table.h"
#include "report/fleet_writers.h"

namespace numatlas {

std::string unused_dat_name(const Fleet& fleet, const std::string& folder) {
  const std::filesystem::path name = dat_name(fleet);
  std::filesystem::path unused = name;
  std::error_code none;
  for (int i = 2; std::filesystem::exists(folder / unused, none); ++i)
    unused = fmt::format("{}-{}{}", name.stem().string(), i, name.extension().string());
  return unused.string();
}

Expected<void> save(const Fleet& fleet, const std::vector<OutputFile>& files,
                    const SlowRule& rule) {
  const SlowReport slow = find_slow(fleet, rule);
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    const std::string text = option == "--json"  ? json_text(fleet, &slow)
                             : option == "--csv" ? fleet_csv(fleet)
                             : option == "--dat" ? dat_text(fleet)
                                                 : fleet_openmetrics(fleet, slow);
    if (auto wrote = write_whole(path, text, option); !wrote) return wrote;
  }
  return {};
}

Expected<void> show(const Fleet& fleet, const SlowRule& rule, Format format, bool lines,
                    const std::function<std::string(const Fleet&)>& table) {
  if (table) return write_stdout(table(fleet));
  const SlowReport slow = find_slow(fleet, rule);
  switch (format) {
    case Format::json: return write_stdout(json_text(fleet, &slow));
    case Format::csv: return write_stdout(fleet_csv(fleet));
    case Format::openmetrics: return write_stdout(fleet_openmetrics(fleet, slow));
    case Format::table: break;
  }
  return write_stdout(fleet_table(fleet, slow, rule) +
                      (lines ? "\n" + fleet_lines(fleet, slow) : ""));
}

void fill_head(Fleet& fleet, const RunOptions& options, const Comm& comm, const Engine& engine) {
  fleet.command = options.command;
  fleet.version = version;
  fleet.arguments = options.arguments;
  fleet.started = start_time(options);
  fleet.comm = comm.description();
  fleet.engine = engine.description();
  fleet.isa = options.null_engine ? "null" : instruction_set();
  fleet.ranks = comm.size();
  fleet.incomplete_reason = "not ended";
}

void note_time(Fleet& fleet, const RunOptions& options,
               std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  fleet.seconds = options.null_engine ? 0 : spent.count();
}

bool has_rounds(const Fleet& fleet) {
  for (const FleetHost& host : fleet.hosts) {
    for (const auto& rounds : host.rounds) {
      if (!rounds.empty()) return true;
    }
  }
  return false;
}

}  // namespace numatlas

#include "benchmarks/stream/output.h"

#include <filesystem>
#include <map>
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

Expected<void> check_files(const StreamFiles& files) {
  std::map<std::string, const char*> known;
  for (const auto& [file, option] : {std::pair{files.json, "--json"}, std::pair{files.csv, "--csv"},
                                     std::pair{files.openmetrics, "--openmetrics"}}) {
    if (file.empty()) continue;
    if (file == "-") {
      return fail(ErrorKind::usage, fmt::format("{} takes a file, not standard output", option),
                  "use --format csv or --format json");
    }
    const auto [other, is_new] = known.try_emplace(file, option);
    if (!is_new) {
      return fail(ErrorKind::usage,
                  fmt::format("{} and {} name the same file", other->second, option));
    }
    if (auto writable = check_writable(file, option); !writable) return writable;
  }
  if (files.dat_folder.empty()) return {};
  return check_writable((std::filesystem::path(files.dat_folder) / "memory_results").string(),
                        "--dat");
}

std::string unused_dat_name(const Fleet& fleet, const std::string& folder) {
  const std::filesystem::path name = dat_name(fleet);
  std::filesystem::path unused = name;
  std::error_code none;
  for (int i = 2; std::filesystem::exists(folder / unused, none); ++i)
    unused = fmt::format("{}-{}{}", name.stem().string(), i, name.extension().string());
  return unused.string();
}

Expected<void> save(const Fleet& fleet, const StreamFiles& files, const SlowRule& rule) {
  const SlowReport slow = find_slow(fleet, rule);
  std::string dat;
  if (!files.dat_folder.empty())
    dat = (std::filesystem::path(files.dat_folder) / files.dat_name).string();
  const auto write = [](const std::string& file, const char* option, const auto& text) {
    return file.empty() ? Expected<void>{} : write_whole(file, text(), option);
  };
  auto wrote = write(files.json, "--json", [&] { return json_text(fleet, &slow); });
  if (wrote) wrote = write(files.csv, "--csv", [&] { return fleet_csv(fleet); });
  if (wrote) wrote = write(dat, "--dat", [&] { return dat_text(fleet); });
  if (wrote)
    wrote =
        write(files.openmetrics, "--openmetrics", [&] { return fleet_openmetrics(fleet, slow); });
  return wrote;
}

Expected<void> show(const Fleet& fleet, const SlowRule& rule, Format format, bool lines,
                    const std::function<std::string(const Fleet&)>& table) {
  if (table) return write_stdout(table(fleet));
  const SlowReport slow = find_slow(fleet, rule);
  switch (format) {
    case Format::json: return write_stdout(json_text(fleet, &slow));
    case Format::csv: return write_stdout(fleet_csv(fleet));
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

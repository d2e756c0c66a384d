// What a run of STREAM writes and prints.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/options.h"
#include "comm/comm.h"
#include "engine/engine.h"
#include "fleet/fleet.h"
#include "fleet/slow_nodes.h"
#include "report/file.h"

namespace numatlas {

/// The name that says when a run started says only the minute: a number is added where there is
/// such a file.
std::string unused_dat_name(const Fleet& fleet, const std::string& folder);
/// Writes all files of the run.
Expected<void> save(const Fleet& fleet, const std::vector<OutputFile>& files, const SlowRule& rule);
/// On standard output. `table` replaces ours.
Expected<void> show(const Fleet& fleet, const SlowRule& rule, Format format, bool lines,
                    const std::function<std::string(const Fleet&)>& table);

/// The facts of a run that do not come from hosts.
void fill_head(Fleet& fleet, const RunOptions& options, const Comm& comm, const Engine& engine);
void note_time(Fleet& fleet, const RunOptions& options,
               std::chrono::steady_clock::time_point start);
/// Whether any host has finished a round.
bool has_rounds(const Fleet& fleet);

}  // namespace numatlas

// What else ran on the hosts of a run.
#pragma once

#include <optional>

#include "comm/comm.h"
#include "record/report.h"

namespace numatlas {

/// Puts into the report of rank 0 what `watch` saw on each host, and a warning where that may have
/// changed the figures. One rank of each host has a watch; of a run without any nothing is said.
/// Collective with `all_hosts`; otherwise, after a stop, only the own host is asked.
Expected<void> note_cpu_use(const std::optional<CpuWatch>& watch, Comm& comm, bool all_hosts,
                            RunReport& report);

}  // namespace numatlas

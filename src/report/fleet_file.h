// Stored results of STREAM over hosts.
#pragma once

#include <string>

#include "base/error.h"
#include "record/report.h"

namespace numatlas {

/// JSON of `numatlas stream`, or a .dat of it or of distributed_streams: told apart by content.
/// Errors name the file, also of what has no rounds of hosts.
Expected<RunReport> read_fleet(const std::string& path);

}  // namespace numatlas

// A fleet for other programs. Reports without rounds of hosts are not for these.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// Stable `key=value` lines, for ReFrame and the like: a line `numatlas_stream` for each kernel, a
/// line `numatlas_stream_slow` for each slow host and kernel, and `numatlas_stream_summary` last.
/// Rates are whole bytes a second. Keys may be added, not taken away (docs/results.md).
std::string fleet_lines(const RunReport& run);

/// Gauges for the textfile collector of Prometheus' node exporter (valid OpenMetrics as well):
/// bandwidth of each host and kernel, who is slow, counts, when it ran. No timestamps.
std::string fleet_openmetrics(const RunReport& run);

/// A row a host, kernel and round; empty where a value could not be had.
std::string fleet_csv(const RunReport& run);

}  // namespace numatlas

// Figures of passes on hosts (record/passes.h): pure.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// Figure of a case whose passes hosts made: bytes of one process in one pass, as counted.
inline constexpr const char* pass_bytes_key = "pass_size";

/// Bytes that all processes of a host move in one pass of a case, as counted.
double bytes_of_host(const RunReport& report, const ScenarioResult& one, int host);

/// Bytes a second of each of the passes that count; 0 for one that took no time.
std::vector<double> rates_of(const RunReport& report, const ScenarioResult& one, int host,
                             const std::vector<PassTimes>& passes);

/// "bandwidth" of a host: the median of these rates, with their interval; without an estimate where
/// there are none.
Figure bandwidth_of(std::vector<double> rates);

}  // namespace numatlas

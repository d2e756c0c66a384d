// The cases of a report that was reduced to the rounds of its hosts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "fleet/summary.h"
#include "record/report.h"

namespace numatlas {

/// Makes the cases anew from the rounds: one for each kernel, in their order. Its "bandwidth" (B/s,
/// bytes as STREAM counts them) is the median over hosts of each host's median round, and that of
/// each host the median of its rounds, with the interval that so many give. Cases with a host that
/// finished no round are incomplete, for the reason that the cases before them, or the report,
/// have.
void add_cases(RunReport& report);

/// "bandwidth" of a host: the median of its rounds, with their interval.
Figure bandwidth_of(const HostTimes& times);

/// As report_from_json. Rounds without verdicts (of a run that was killed) get
/// their cases and verdicts.
Expected<RunReport> report_with_cases(const nlohmann::json& value);

}  // namespace numatlas

// The report of `numatlas run`: a row a flow, and one for the sum of each scenario.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

std::string run_table(const RunReport& report, bool stats);

}  // namespace numatlas

// The report of the search for weights.
#pragma once

#include <string>

#include "report/result.h"

namespace numatlas {

/// Every weights tried, the best, what they are worth, and how to set them. `kept`: weights that
/// were confirmed have stayed.
std::string weights_table(const RunReport& report, bool kept, bool stats);

}  // namespace numatlas

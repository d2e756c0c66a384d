// The report of `numatlas transfer` for people.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// GPUs with their links; a matrix of memory and GPUs for each direction, pinning and size, with
/// the best place for each GPU; small copies, chases, copies between GPUs, cost of pinning.
std::string transfer_table(const RunReport& report, bool stats);

}  // namespace numatlas

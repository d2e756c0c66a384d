// What the bandwidth benchmark computes over all workers, and its table.
#pragma once

#include <string>
#include <vector>

#include "report/result.h"

namespace numatlas {

/// A row a point: sum, spread over the workers; below what `notes_text` says.
std::string bandwidth_table(const RunReport& report, bool stats);

}  // namespace numatlas

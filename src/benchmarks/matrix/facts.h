// What a survey says of a node matrix.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// Every cell of latency and reads, and the worst of those that are not the nearest memory.
std::vector<Fact> matrix_facts(const RunReport& report);

}  // namespace numatlas

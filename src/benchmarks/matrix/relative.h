// Cells of a matrix as multiples of the local one.
#pragma once

#include "record/report.h"

namespace numatlas {

/// Adds "times_local" to each cell, of each host: to the flow of a latency, to the sums of a
/// bandwidth. Local is the memory of the CPUs' own node; of CPUs whose node has none the best that
/// they reach.
void add_times_local(RunReport& report);

}  // namespace numatlas

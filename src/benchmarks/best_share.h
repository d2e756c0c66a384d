// Bandwidths as shares of the highest one that the same run measured.
#pragma once

#include "record/report.h"

namespace numatlas {

/// Adds "best_share" beside each "bandwidth_sum" of memory: over all hosts, and of each host where
/// there are several. Nothing of what a cache held.
void add_best_shares(RunReport& report);

}  // namespace numatlas

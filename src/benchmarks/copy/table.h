// What the copy benchmark computes over all workers, and its tables.
#pragma once

#include <string>
#include <vector>

#include "report/result.h"

namespace numatlas {

/// "copy_rate" in B/s: bytes copied, each counted once, of all workers over their common time: half
/// of "bandwidth_sum", which counts them as read and as written. Nothing where there is no sum.
std::vector<Metric> copy_totals(const ScenarioResult& point);

/// Several pairs: a row a place copied from and a column a place copied to, a table for each size,
/// kind of stores and number of threads. One pair: a row a point.
std::string copy_table(const RunReport& report, bool stats);

}  // namespace numatlas

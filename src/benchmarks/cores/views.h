// How core-to-core latencies are shown.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// One matrix for each method, and the pairs by how near they are.
std::vector<View> cores_views(const RunReport& report);

/// "row CPU, column CPU" in ns as core-to-core-latency writes it: no heads, rows and columns in the
/// order of the workers, nothing on the diagonal. Pairs that were measured once stand below it.
std::string cores_square_csv(const RunReport& report);

/// The nearest and the farthest pair.
std::vector<Fact> cores_facts(const RunReport& report);

}  // namespace numatlas

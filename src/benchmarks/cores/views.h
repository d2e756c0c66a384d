// How core-to-core latencies are shown.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// One matrix for each method, and the pairs by how near they are.
std::vector<View> cores_views(const RunReport& report);

/// The nearest and the farthest pair.
std::vector<Fact> cores_facts(const RunReport& report);

}  // namespace numatlas

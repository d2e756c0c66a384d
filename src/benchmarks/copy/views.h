// How copies between places are shown, and their figures.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// "copy_rate" in B/s over all workers of a point: bytes count once, not as read and as written.
std::vector<Figure> copy_totals(const ScenarioResult& point);

/// One matrix for each size, page kind, kind of stores and number of threads; one table where there
/// is only one pair of places.
std::vector<View> copy_views(const RunReport& report);

/// "bind:2" is "node 2"; others are as they were asked for.
std::string place_words(const std::string& memory);

/// Every pair of places; the slowest and the fastest are shown.
std::vector<Fact> copy_facts(const RunReport& report);

}  // namespace numatlas

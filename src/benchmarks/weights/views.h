// How the search for weights is shown.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// All weights that were tried, what the best are worth, and how to set them. `kept`: weights that
/// were confirmed have stayed.
std::vector<View> weights_views(const RunReport& report, bool kept);

/// What the best weights give, and that against the nearest node alone.
std::vector<Fact> weights_facts(const RunReport& report);

}  // namespace numatlas

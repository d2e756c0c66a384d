// What a survey says of latency under load.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// Of each pair of nodes the latency while idle, at half of the peak, at 80 % of it and at the
/// peak, under reads.
std::vector<Fact> loaded_facts(const RunReport& report);

}  // namespace numatlas

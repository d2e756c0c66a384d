// What a survey says of transfers to GPUs and from them.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// Every rate and latency; of each GPU its best place for each direction is shown.
std::vector<Fact> transfer_facts(const RunReport& report);

}  // namespace numatlas

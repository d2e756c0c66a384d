// Workers of this process alone, measured for a moment.
#pragma once

#include <vector>

#include "base/units.h"
#include "engine/scenario.h"
#include "selftest/check.h"

namespace numatlas {

/// Each worker reads 1 MiB of its own for `time`, all at once.
Expected<std::vector<Trace>> read_together(const CheckInput& input,
                                           const std::vector<WorkerPlacement>& workers,
                                           Nanoseconds time);

}  // namespace numatlas

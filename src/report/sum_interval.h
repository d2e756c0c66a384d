// How sure a sum over flows is.
#pragma once

#include <optional>

#include "report/result.h"

namespace numatlas {

/// Half width of the 95 % interval of a sum, relative to it; absent where it has too few stretches.
std::optional<double> half_width_of_sum(const Metric& sum);

}  // namespace numatlas

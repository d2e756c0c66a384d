// Groups of loads of a machine that does not exist (kernels/group_times.h).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/simulated/noise.h"
#include "kernels/group_times.h"

namespace numatlas {

/// Of `time_ns`, in which each load takes `load_ns`, a little more now and then, and what the noise
/// delays. `state`: of what is random.
GroupTimes simulated_groups(unsigned loads, double load_ns, double time_ns,
                            const std::optional<DelayNoise>& delays, std::uint64_t state);

}  // namespace numatlas

// How long a plan takes, before it is run: for sharing out time. Rough, and the same on all
// machines.
#pragma once

#include "run/setup.h"

namespace numatlas {

/// Seconds to get a scenario ready: to touch its memory, to build and prove its chains, and to
/// warm up. Pure.
double preparation_of(const Scenario& scenario);

/// Seconds that a plan takes at least, with little time to record each point, and what is refined
/// afterwards. Pure.
double least_time_of(const Benchmark& benchmark, const Setup& setup);

}  // namespace numatlas

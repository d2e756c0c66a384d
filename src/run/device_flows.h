// What a flow of a GPU does where nobody says: for `numatlas transfer` and for files alike.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/scenario.h"
#include "gpu/machine_gpus.h"

namespace numatlas {

/// Copies in a step: several of small ones, so that timing them is not what takes the time; one
/// where each is waited for (depth 1).
std::uint64_t usual_copies(Bytes size, int depth);
/// Dependent loads of a launch of the chase.
std::uint64_t usual_loads(Bytes size);
/// Before the first sample, of a flow whose kernel and region are set.
Bytes device_warm_up(const Flow& flow);

/// "h2d", "d2h", "p2p" of a GPU's copy; "" of any other flow.
std::string direction_of(const Flow& flow);

/// Error (unavailable): there is no such GPU. Names no option.
Error no_such_gpu(int gpu, const std::set<int>& there);

}  // namespace numatlas

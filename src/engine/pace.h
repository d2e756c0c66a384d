// Holds a flow to a rate.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/clock.h"
#include "engine/scenario.h"

namespace numatlas {

/// Runs steps of the flow's kernel, no faster than the flow's rate: in bursts of about a
/// microsecond, each begun when the clock says that it is due. The time between is spent looking at
/// the clock. A flow that cannot keep up runs as fast as it can, and what it lost while it had no
/// CPU is not made up for. Without a rate all steps run at once. Kernel and clock must outlive what
/// is returned.
std::function<void(std::uint64_t)> paced(const Flow& flow, Kernel& kernel, Clock& clock);

}  // namespace numatlas

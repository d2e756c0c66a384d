// A scenario under system-wide weights of its own.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "run/benchmark.h"

namespace numatlas {

/// Runs `scenario`, which is `planned`'s, under the system-wide weights that it asks for, if any.
/// An error in setting them or in putting the old ones back is one of the run. Collective only
/// where no weights are asked for.
Expected<std::vector<Trace>> run_weighted(Engine& engine, const PlannedScenario& planned,
                                          const Scenario& scenario);

}  // namespace numatlas

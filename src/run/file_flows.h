// From a file of scenarios to a plan: what the file leaves out is filled in from the options and
// the machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/benchmark.h"
#include "scenario/scenario_file.h"

namespace numatlas {

/// The flows of a scenario, of this benchmark or another, as a line of `numatlas run`: flows alike
/// are one, and what is usual is left out. Kernels that `run` does not have show only their name.
std::string flows_text(const Scenario& scenario, const Layout& layout);

/// Flows of a scenario that was read for this machine, and for how long they record. Its CPUs are
/// workers of the layout. Pure.
Scenario scenario_of(const FileScenario& file, const PlanInput& input);

}  // namespace numatlas

// Plans and views that would give a wrong table instead of an error: found before anything is
// measured, by tests and --dry-run.
#pragma once

#include <string>

#include "run/benchmark.h"

namespace numatlas {

/// Error (internal, names the benchmark and the case): a plan without cases, two cases of one name,
/// or a worker with two flows in a scenario, which it could only run in turn. Every plan goes
/// through it. Pure.
Expected<void> check_plan(const Plan& plan, const std::string& benchmark);

/// Error (internal, names the view): a view with a label that no case has; a matrix or curve
/// without any figure that a case has; a matrix with two cases in one cell. `report`: of a run to
/// which nothing was left out. Pure.
Expected<void> check_views(const RunReport& report);

}  // namespace numatlas

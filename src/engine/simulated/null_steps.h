// Internal: what the null engine's machine takes for steps whose bytes are no bandwidth.
#pragma once

#include <optional>
#include <vector>

#include "engine/engine.h"

namespace numatlas {

/// Nanoseconds of a step; nullopt for kernels that it does not know. `hop_ns`: a line from one of
/// the scenario's CPUs to another. `farther`: of the memory, against that of the CPU's own node.
std::optional<double> null_step_ns(const Scenario& scenario, const Flow& flow, double hop_ns,
                                   double farther);

/// How many times as long a flow takes because another moves its pages.
double null_wait_for_pages(const Scenario& scenario, const Flow& flow);

/// What such a kernel would have counted.
std::vector<StepCount> null_counts(const Scenario& scenario, const Flow& flow);

}  // namespace numatlas

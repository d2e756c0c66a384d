// Internal: what the null engine's GPUs would do.
#pragma once

#include "engine/scenario.h"
#include "machine/machine.h"

namespace numatlas {

/// Nanoseconds of a step of a flow of a GPU, among the others of its scenario. `host`: where the
/// host's memory lies.
double null_gpu_step_ns(const Machine& machine, const Scenario& scenario, const Flow& flow,
                        const Residency& host);

/// What the GPU would tell of these samples.
DeviceReport null_gpu_report(const Machine& machine, const Flow& flow, const Trace& trace);

}  // namespace numatlas

// From a flow's trace to its result.
#pragma once

#include "run/setup.h"

namespace numatlas {

/// What the report says of a flow of `scenario`. Pure.
FlowResult result_of(const Setup& setup, const Scenario& scenario, const Flow& flow, Trace trace);

/// Whether it did not run for so much of its time that this disturbed what was measured.
bool was_stopped(const FlowResult& flow);

}  // namespace numatlas

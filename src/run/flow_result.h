// From a flow's trace to its result.
#pragma once

#include "run/setup.h"

namespace numatlas {

/// What the report says of a flow of `scenario`; its raw samples only where they are wanted. Pure.
FlowResult result_of(const Setup& setup, const Scenario& scenario, const Flow& flow, Trace trace,
                     bool with_samples);

}  // namespace numatlas

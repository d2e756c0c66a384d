// Flows of GPUs between a file of scenarios and a plan: their part of file_flows.h.
#pragma once

#include <cstddef>
#include <optional>

#include "run/benchmark.h"
#include "scenario/scenario_file.h"

namespace numatlas {

/// Pages of the host's side as asked for, and none for memory of a GPU.
PageKind pages_of_side(const MemoryPlacement& placement, const std::optional<PageKind>& asked,
                       PageKind otherwise);

/// What a flow of a GPU does, once its region stands: all of its kernel, and the warm-up. `index`:
/// of its CPUs.
void fill_in_device(const FileFlow& file, std::size_t index, const PlanInput& input, Flow& flow);

/// Error (unavailable, telling the place in the file) unless the GPUs that it names are there.
Expected<void> check_gpus(const FileFlow& file, const Machine& machine);

/// Inverse of fill_in_device, but for the warm-up: all keys that may say something.
void write_device_keys(const Flow& flow, FileFlow& file);

}  // namespace numatlas

// From a file of scenarios to a plan: what the file leaves out is filled in from the options and
// the machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/benchmark.h"
#include "scenario/scenario_file.h"

namespace numatlas {

/// What the key "memory" or "source.memory" means on the `index`-th of its CPUs; errors tell the
/// place in the file.
Expected<MemoryPlacement> memory_of(const FlowEntry& entry, const std::string& key,
                                    std::size_t index, const MemoryPlacement& otherwise,
                                    const Machine& machine, const CpuSet& cpus);

/// The flows of a scenario, of this benchmark or another, as `numatlas run` takes them: flows alike
/// are one, and what is usual is left out.
std::string flows_text(const Scenario& scenario, const Layout& layout);

/// Flows of a scenario, and for how long they record. Its CPUs are workers of the layout. Pure.
Expected<Scenario> scenario_of(const FileScenario& file, const PlanInput& input);

}  // namespace numatlas

// Atomic additions by threads of a GPU: to one counter, to words of the same lines, to lines of
// their own.
#pragma once

#include <vector>

#include "run/benchmark.h"

namespace numatlas::benchmark_atomics {

struct GpuCounters {
  std::vector<int> gpus;
  std::vector<Sharing> sharings;
};

/// By one thread, by those of a warp, of a block, and by as many as the GPU has at a time.
Expected<Plan> plan_on_gpus(const GpuCounters& own, const PlanInput& input);

/// A curve of each GPU and memory.
std::vector<View> views_on_gpus(const RunReport& report);

/// What a GPU's threads do in a second to one counter, and to lines of their own.
std::vector<Fact> facts_on_gpus(const RunReport& report);

}  // namespace numatlas::benchmark_atomics

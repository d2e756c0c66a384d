// Loaded latency of GPUs: one thread chases while other multiprocessors load the same memory.
#pragma once

#include <vector>

#include "benchmarks/on_gpus.h"
#include "kernels/stream_loops.h"

namespace numatlas::benchmark_loaded {

/// What a load by multiprocessors of a GPU is chosen from.
struct GpuLoad {
  std::vector<int> gpus;
  std::vector<Operation> kernels;
  Bytes size = {};  ///< of all arrays of the load; 0: the usual one
};

/// Idle, and under loads of 1, 2, ... multiprocessors up to all but one.
Expected<Plan> plan_on_gpus(const GpuLoad& load, const PlanInput& input);

}  // namespace numatlas::benchmark_loaded

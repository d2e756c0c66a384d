// Loaded latency of GPUs: one thread chases while other multiprocessors load the same memory.
#pragma once

#include "run/benchmark.h"

namespace numatlas::benchmark_loaded {

/// Idle, and under loads of 1, 2, ... multiprocessors up to all but one.
void by_gpus(Benchmark& its);

}  // namespace numatlas::benchmark_loaded

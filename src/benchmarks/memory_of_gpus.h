// Latency and bandwidth of memory as a GPU's kernels see it: `latency`, `bandwidth` and `matrix`
// with --on gpu:N. Pure.
#pragma once

#include <vector>

#include "benchmarks/on_gpus.h"

namespace numatlas::memory_of_gpus {

struct Options {
  bool latency = false, bandwidth = false;
  bool together = false;  ///< the kernels of all GPUs at the same time
  /// In the memory of each node and of each GPU, in one size of each; else in what --memory says.
  bool every_memory = false;
  std::vector<Operation> kernels = {};
  std::vector<Bytes> sizes = {};  ///< empty: usual ones
  std::vector<GpuLoads> loads{GpuLoads::cached};
};

/// From now on the benchmark is what `own` says, on the GPUs of --on.
void take_over(Benchmark& benchmark, const on_gpus::OnOption& on, const Options& own);

}  // namespace numatlas::memory_of_gpus

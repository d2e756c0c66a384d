// The benchmarks of this build. CMake makes the list from the folders here.
#pragma once

#include <vector>

#include "run/benchmark.h"

namespace numatlas {

/// All benchmarks of this build, by name.
std::vector<Benchmark> all_benchmarks();

}  // namespace numatlas

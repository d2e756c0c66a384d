// Options that are wrong whatever the machine.
#pragma once

#include "comm/comm.h"
#include "run/benchmark.h"

namespace numatlas {

/// What can be known to be wrong before any work: files that cannot be written, formats that have
/// no place for what is asked, ranks that are not there.
Expected<void> check_options(const Benchmark& benchmark, const RunOptions& options,
                             const Comm& comm);

}  // namespace numatlas

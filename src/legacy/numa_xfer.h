// numa_numa_xfer_bench: copies between nodes with the command line and the output of the extension
// numa-numa-xfer-bench of numa-gpu-xfer-bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas::legacy {

/// As asked for on the command line.
struct NumaXfer {
  std::string source_nodes, target_nodes;
  std::uint64_t bytes = 0;
  int iterations = 0;
  int threads = 1;
};

/// The whole program: words after its name -> exit code.
int numa_xfer(const std::vector<std::string>& words);

/// Words of `numatlas copy`: both buffers interleaved over their nodes, a part of them a thread.
std::vector<std::string> copy_words(const NumaXfer& asked);

/// Both blocks that the original prints; "-" where nothing was measured.
std::string numa_xfer_text(const NumaXfer& asked, const RunReport& report);

}  // namespace numatlas::legacy

// numa_gpu_xfer_sweep: the tables of the scripts of numa-gpu-xfer-bench, copies between GPUs and
// interleaved memory for numbers of GPUs, nodes, weights and sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "legacy/gpu_xfer.h"
#include "placement/weighted.h"

namespace numatlas::legacy {

/// The whole program: words after its name -> exit code.
int gpu_sweep(const std::vector<std::string>& words);

/// A row of the table.
struct SweepRow {
  int gpus = 0;
  std::string nodes;    ///< as asked for: "0,3"
  std::string weights;  ///< "1,2"; "" for plain interleave
  Bytes size;
};

/// All rows, in the order of the table: by GPUs, then nodes, weights, sizes. Errors (usage) name
/// the option: a text that is no list, weights that are not as many as the nodes.
struct SweepLists {
  std::string gpus, nodes, sizes, weights;  ///< as typed; weights "": plain interleave
};
Expected<std::vector<SweepRow>> sweep_rows(const SweepLists& lists);

/// Nodes and their weights; of a row with weights. Precondition: from sweep_rows.
WeightedNodes weights_of_row(const SweepRow& row);
/// The host's memory of a row, in the placement's words: "interleave:0,3", "weighted:0=1,3=2".
std::string memory_of_row(const SweepRow& row);

/// The original's first line.
std::string sweep_head(bool weighted);
/// A line of its CSV. Where a direction has no figures, its cells say "failed: " and why, and
/// "failed".
std::string sweep_line(const SweepRow& row, const GpuXferFigures& read,
                       const GpuXferFigures& write);

}  // namespace numatlas::legacy

// numa_gpu_xfer_bench: copies between memory of the host and GPUs, with the command line and the
// four lines of the program `benchmark` of numa-gpu-xfer-bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/parse.h"
#include "legacy/program.h"

namespace numatlas::legacy {

/// What one run of the original copies.
struct GpuXfer {
  int gpus = 0;
  Bytes bytes;  ///< as asked for; whole pages of 4096 bytes are copied
  int iterations = 0;
  std::vector<std::string> directions;  ///< "h2d", "d2h"
  bool pinned = true, strict = false, quiet = false;
  std::optional<Nanoseconds> time = {};  ///< cap for each direction; absent: by what is copied
  std::string json = {};                 ///< file for the whole report
};

/// The whole program: words after its name -> exit code.
int gpu_xfer(const std::vector<std::string>& words);

/// The run of `numatlas transfer` that measures it: each direction by itself, in each iteration a
/// copy on every GPU at the same time, all waited for before the next one.
Expected<ParsedRun> transfer_run(const GpuXfer& asked);

/// How long a direction may take: as long as the copies would at a rate that is far below any link,
/// and a little for what happens once.
Nanoseconds longest_time(const GpuXfer& asked);

/// Of one direction, as the original prints it. Absent where it was not measured to its end.
struct GpuXferFigures {
  std::optional<double> copy_ms;     ///< mean time of a copy between its events, over all GPUs
  std::optional<double> gib_second;  ///< bytes of a copy over that time
  std::string problem;               ///< why there are none
};
GpuXferFigures figures_of(const RunReport& report, const std::string& direction);

/// The lines that the original prints; "-" where nothing was measured.
std::string gpu_xfer_text(const GpuXfer& asked, const RunReport& report);

/// At least three decimals (two), and four figures.
std::string ms_text(const std::optional<double>& copy_ms);
std::string gib_text(const std::optional<double>& gib_second);

/// What a report has to be read with: points without figures (no code), warnings, and where the
/// time ended it before the iterations.
std::vector<Warning> gpu_xfer_notes(const RunReport& report, const GpuXfer& asked);

}  // namespace numatlas::legacy

// Whether this build, on this machine, now, can be trusted to measure.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "comm/comm.h"
#include "machine/machine.h"
#include "placement/placement.h"
#include "record/report.h"

namespace numatlas {

/// What checks look at.
struct CheckInput {
  const Machine& machine;                ///< the live one
  Comm& comm;                            ///< all ranks: for the checks that say so
  std::vector<WorkerPlacement> workers;  ///< two of this rank where it has two CPUs, else one
};

/// One thing that has to hold before a figure of this machine can be trusted.
struct Check {
  const char* name;     ///< a word of --only
  const char* summary;  ///< what is looked at, in a line
  /// What it looked at. An error is what is wrong; of kind unavailable or permission it says why
  /// this cannot be looked at here.
  Expected<std::string> (*run)(const CheckInput& input);
  bool is_quick = false;      ///< takes less than 0.2 s: a survey runs it first
  bool of_all_ranks = false;  ///< collective: rank 0 knows. All others are each rank's own
};

/// In the order of the table.
const std::vector<Check>& all_checks();

/// Runs checks on all ranks. Rank 0 has a case for each: labels `test`, `verdict` ("passed",
/// "failed"; of a skipped one its reason) and `evidence`. `only`: names; empty: all. Collective.
/// Errors: of ranks that do not answer.
Expected<std::vector<Case>> run_checks(const Machine& machine, Comm& comm,
                                       const std::vector<std::string>& only, bool quick = false);

}  // namespace numatlas

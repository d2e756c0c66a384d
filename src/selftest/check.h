// One thing that has to hold before a figure of this machine can be trusted. Each check is one file
// in selftest/checks/; selftest.cpp lists them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "comm/comm.h"
#include "machine/machine.h"
#include "placement/placement.h"

namespace numatlas {

enum class CheckOutcome { passed, skipped, failed };
const char* name_of(CheckOutcome outcome);  ///< "passed", "skipped", "failed"

/// What a check found.
struct CheckResult {
  CheckOutcome outcome = CheckOutcome::passed;
  std::string detail;  ///< what was looked at, why it was skipped, or what is wrong
  std::string next;    ///< of a failed check: what to do
};
CheckResult passed(std::string detail);
CheckResult skipped(std::string reason);
CheckResult failed(std::string detail, std::string next);

/// What checks look at.
struct CheckInput {
  const Machine& machine;                ///< the live one
  Comm& comm;                            ///< all ranks: for the checks that say so
  std::vector<WorkerPlacement> workers;  ///< two of this rank where it has two CPUs, else one
};

class Check {
 public:
  virtual ~Check() = default;
  virtual std::string name() const = 0;     ///< a word of --only
  virtual std::string summary() const = 0;  ///< what is looked at, in a line
  /// Takes less than 0.2 s: a survey runs it first.
  virtual bool is_quick() const { return false; }
  /// Collective over all ranks: rank 0 knows the result. All others are each rank's own.
  virtual bool of_all_ranks() const { return false; }
  virtual CheckResult run(const CheckInput& input) const = 0;
};

/// All checks, in the order of the table.
std::vector<std::unique_ptr<Check>> all_checks();

// The files of selftest/checks/.
std::unique_ptr<Check> make_clock_check();
std::unique_ptr<Check> make_kernels_check();
std::unique_ptr<Check> make_chain_check();
std::unique_ptr<Check> make_placement_check();
std::unique_ptr<Check> make_pages_check();
std::unique_ptr<Check> make_overlap_check();
std::unique_ptr<Check> make_slow_worker_check();
std::unique_ptr<Check> make_interference_check();
std::unique_ptr<Check> make_ranks_check();

}  // namespace numatlas

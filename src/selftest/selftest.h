// `numatlas selftest`: whether this build, on this machine, now, can be trusted to measure.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "comm/comm.h"
#include "machine/machine.h"
#include "selftest/check.h"

namespace numatlas {

struct SelfTestOptions {
  std::vector<std::string> only;  ///< names of checks; empty: all
  std::string format = "table";
  bool dry_run = false;  ///< says what it would check
  bool quiet = false;    ///< it shows no progress in any case
};

/// A check's result over all ranks.
struct CheckLine {
  std::string name;
  CheckResult result;
  double seconds = 0;
};

/// Runs checks, on all ranks; rank 0 has their lines. `quick`: those that take less than 0.2 s.
/// `only` as above. Collective. Errors: of ranks that do not answer.
Expected<std::vector<CheckLine>> run_checks(const Machine& machine, Comm& comm,
                                            const std::vector<std::string>& only, bool quick);

/// Names of all checks, as --only takes them.
std::vector<std::string> names_of_checks();
/// "table", "json".
std::vector<std::string> selftest_formats();

/// Runs them and writes the result to standard output. Exit code, known on rank 0: 0 no check
/// failed, 1 one did, 3 all were skipped. Collective.
Expected<int> run_selftest(const SelfTestOptions& options, Comm& comm);

}  // namespace numatlas

// The audit: what the machine claims against what it does, within a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "audit/claim.h"
#include "survey/plan.h"
#include "survey/summary.h"

namespace numatlas {

struct AuditOptions {
  SurveyOptions measuring;        ///< time, machine, engine, quiet, dry run; its `only` is unused
  std::vector<std::string> only;  ///< claims; empty: all that the options and the machine allow
  std::optional<MachineUse> use;  ///< --for
  double peak_share = 0.6;
  std::string format = "table", json_file;
};

/// What an audit found.
struct AuditReport {
  Machine machine;
  std::vector<std::string> arguments;
  std::string started;
  double seconds = 0, time_asked = 0;
  bool null_engine = false;
  std::string stopped;  ///< why not all was measured: "interrupted"; "" where it was
  std::vector<RunReport> reports;
  std::vector<SkippedBenchmark> skipped;
  std::vector<ClaimVerdict> verdicts;
  std::size_t count(ClaimOutcome outcome) const;
};

/// Names of all claims, as --only takes them.
std::vector<std::string> names_of_claims();

/// Exit codes: 0 nothing is contradicted, 1 something is, 3 nothing could be judged.
int exit_code_of(const AuditReport& report);

/// Over all ranks; rank 0 judges and prints. Returns the exit code on rank 0, 0 elsewhere. An error
/// is the same on every rank.
Expected<int> run_audit(const AuditOptions& options, Comm& comm);

}  // namespace numatlas

// The audit: what the machine claims against what it does, within a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/claim.h"
#include "survey/plan.h"

namespace numatlas {

struct AuditOptions {
  SurveyOptions measuring;        ///< time, machine, engine, quiet, dry run; its `only` is unused
  std::vector<std::string> only;  ///< claims; empty: all that the options and the machine allow
  std::optional<MachineUse> use;  ///< --for
  double peak_share = 0.6;
  std::string format = "table", json_file;
};

/// The verdicts, the contradicted ones first: cases with the labels `claim`, `about`, `verdict` and
/// `evidence`, those that are not judged here skipped with the reason. The answer is as short as a
/// scheduler's reason for a drained node has to be. Pure.
RunReport report_of(std::vector<ClaimVerdict> verdicts);

/// Exit codes: 0 nothing is contradicted, 1 something is, 3 nothing could be judged, 9 nothing that
/// was measured is to be relied on.
int exit_code_of_audit(const RunReport& report);

/// Over all ranks; rank 0 judges and prints. Returns the exit code on rank 0, 0 elsewhere. An error
/// is the same on every rank.
Expected<int> run_audit(const AuditOptions& options, Comm& comm);

}  // namespace numatlas

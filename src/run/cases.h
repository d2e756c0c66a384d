// The cases of a report, from a plan and the visits to its cases, and the flows of a visit from
// their traces. Pure: cases are computed at the end of a
// run, and whenever a report of what is known so far is wanted.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "run/benchmark.h"
#include "run/rounds.h"
#include "run/runner.h"
#include "run/setup.h"

namespace numatlas {

/// What the report says of a flow of `scenario`, from its trace.
FlowResult result_of(const Setup& setup, const Scenario& scenario, const Flow& flow, Trace trace);
/// What is to be said of its memory; they name no flow.
std::vector<Warning> memory_warnings(const FlowResult& flow);
/// Whether it did not run for so much of its time that this disturbed what was measured.
bool was_stopped(const FlowResult& flow);

/// What a benchmark's visits are read with.
struct CaseInput {
  const Benchmark& benchmark;
  const RunOptions& options;
  const RunHooks& hooks;
  const Setup& setup;
  std::span<const int> workers;  ///< of this benchmark, by the session's numbers; -1: not its own
  const RunReport& head;         ///< hosts, machines and workers, and the pilots so far
  int number = 0;                ///< Visit::by of its own visits
};

/// The case of a case that has visits or ended without any.
Case case_of(const CaseInput& input, const CaseRun& run);
/// All of them.
std::vector<Case> cases_of(const CaseInput& input, std::span<const CaseRun> runs);
/// Sets status and reason of a case's case.
void set_status(const CaseInput& input, const CaseRun& run, Case& result);
/// What these have to be read with: visits that failed or were repeated, and what makes figures
/// less than they seem. `cases`: of `cases`.
std::vector<Warning> warnings_of(const CaseInput& input, std::span<const CaseRun> runs,
                                 std::span<const Case> cases);

/// Whether a case has visits, or ended without any.
bool is_known(const CaseRun& run);
/// The first output of a kernel that was not what it should be, naming case and worker.
std::optional<Error> wrong_output(const CaseInput& input, std::span<const CaseRun> runs);
/// Why the first of the cases that were skipped while running was; absent where none was, or where
/// other cases stand for it.
std::optional<Error> skip_that_counts(const CaseInput& input, std::span<const CaseRun> runs);

/// The half width of the interval that a case is to reach.
double precision_of(const CaseInput& input, const CaseRun& run);

}  // namespace numatlas

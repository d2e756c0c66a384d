// The cases of a report, from a plan and the visits to its points. Pure: computed at the end of a
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

/// The case of a point that has visits or ended without any.
ScenarioResult case_of(const CaseInput& input, const PointRun& point);
/// All of them.
std::vector<ScenarioResult> cases_of(const CaseInput& input, std::span<const PointRun> points);
/// Sets status and reason of a point's case.
void set_status(const CaseInput& input, const PointRun& point, ScenarioResult& result);
/// What these have to be read with: visits that failed or were repeated, and what makes figures
/// less than they seem. `cases`: of `points`.
std::vector<Warning> warnings_of(const CaseInput& input, std::span<const PointRun> points,
                                 std::span<const ScenarioResult> cases);

/// Whether a point has visits, or ended without any.
bool is_known(const PointRun& point);
/// The first output of a kernel that was not what it should be, naming case and worker.
std::optional<Error> wrong_output(const CaseInput& input, std::span<const PointRun> points);
/// Why the first of the points that were skipped while running was; absent where none was, or where
/// other points stand for it.
std::optional<Error> skip_that_counts(const CaseInput& input, std::span<const PointRun> points);

/// The half width of the interval that a point is to reach.
double precision_of(const CaseInput& input, const PointRun& point);

}  // namespace numatlas

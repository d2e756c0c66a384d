// What a survey found, in few words. Pure: from the benchmarks' reports.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

struct SurveySummary {
  std::vector<Fact> facts;  ///< of all benchmarks
  /// Each matter once: of placement first, then of what disturbed, then the others.
  std::vector<std::string> warnings;
};

SurveySummary summary_of(const std::vector<RunReport>& reports);

/// A benchmark that a survey did not run, and why.
struct SkippedBenchmark {
  std::string benchmark, reason;
};

/// What stands around the figures in the text.
struct SurveyFrame {
  std::string stopped;             ///< why it is incomplete; "" when it is not
  std::vector<std::string> notes;  ///< where the time was not kept, what was left out
  std::vector<SkippedBenchmark> skipped;
  std::vector<std::string> files;  ///< where the results are, a line each
};

/// One screen: lines of at most 100 columns.
std::string summary_text(const Machine& machine, const SurveySummary& summary,
                         const SurveyFrame& frame);

}  // namespace numatlas

// What a survey found, in few words. Pure: from the benchmarks' reports.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/rows.h"
#include "record/report.h"

namespace numatlas {

struct SurveySummary {
  std::vector<Fact> facts;  ///< of all benchmarks
  /// Each matter once: of placement first, then of what disturbed, then the others.
  std::vector<std::string> warnings;
  std::string distrust;  ///< why the figures cannot be trusted (report/answer.h); "" where they can
};

SurveySummary summary_of(const std::vector<RunReport>& reports);

/// The figures of all reports beside what others published of such machines. `machine_type`: as
/// `Published` has it.
std::vector<Normal> normal_of(const std::vector<RunReport>& reports,
                              const std::string& machine_type);
/// The same as a survey's JSON has it, in SI units.
nlohmann::json normal_in_json(const std::vector<RunReport>& reports,
                              const std::string& machine_type);

/// A benchmark that a survey did not run, and why.
struct SkippedBenchmark {
  std::string benchmark, reason;
};

/// What stands around the figures in the text.
struct SurveyFrame {
  std::string stopped;              ///< why it is incomplete; "" when it is not
  std::vector<std::string> doubts;  ///< that come before all warnings: of the program itself
  std::vector<SkippedBenchmark> skipped;
  std::string normal;              ///< normal_line (published/normal.h)
  std::vector<std::string> files;  ///< where the results are, a line each
};

/// One screen, of 25 lines of 80 columns: the machine, a line or two for each question, the gravest
/// doubt, where the rest is. A question all of whose figures may be
/// nothing is "unknown", with the reason.
std::string summary_text(const Machine& machine, const SurveySummary& summary,
                         const SurveyFrame& frame);

}  // namespace numatlas

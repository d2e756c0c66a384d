// What a survey found, in few words. Pure: from the benchmarks' reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// One figure, in SI base units ("s", "B/s") or a ratio ("1"), with the 95 % interval where there
/// were samples enough for one. Of several workers or hosts: the median, with the widest interval.
struct SurveyFact {
  std::string key;  ///< what it is: "matrix_latency", "peak_bandwidth"
  /// Where: {"cpu_node", "0"}, {"memory_node", "2"}.
  std::vector<std::pair<std::string, std::string>> where;
  std::string words;  ///< the same for people, without the figure
  double value = 0;
  std::string unit;
  std::optional<double> low, high;
};

struct SurveySummary {
  std::vector<SurveyFact> facts;
  /// Each matter once: of placement first, then of what disturbed, then the others.
  std::vector<std::string> warnings;
};

/// What the summary has of one benchmark.
std::vector<SurveyFact> facts_of(const RunReport& report);

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

/// The label of a fact, "" when it has none.
std::string where_of(const SurveyFact& fact, const std::string& name);

nlohmann::json to_json(const SurveyFact& fact);

}  // namespace numatlas

// survey.json.
#pragma once

#include <string>
#include <vector>

#include "survey/plan.h"
#include "survey/summary.h"

namespace numatlas {

/// All that a survey knows so far.
struct SurveyRecord {
  SurveyOptions options;
  Machine machine;
  std::string started;
  double seconds = 0;
  bool complete = false;
  std::string incomplete_reason = "not ended";
  std::vector<SurveyItem> items;
  std::vector<double> taken;       ///< seconds of each item; 0: not run
  std::vector<RunReport> reports;  ///< without samples, of the items that ran
  std::vector<SkippedBenchmark> skipped;
  std::vector<std::string> notes;  ///< where the time was not kept, what it was too short for
};

/// The whole object, ending in a newline (docs/results.md describes it). Pure.
std::string document_text(const SurveyRecord& record, const SurveySummary& summary);

}  // namespace numatlas

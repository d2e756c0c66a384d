// The survey: every benchmark that applies, within a time; a summary, and files that hold it all.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "survey/plan.h"

namespace numatlas {

/// What the survey leaves to those who call it.
struct SurveyHooks {
  bool has_report = false;  ///< whether `report` can make one, as far as is known before
  /// Makes the HTML report from survey.json, on rank 0. What became of it, in a line.
  std::function<std::string(const std::string& survey_file, const std::string& html_file)> report;
};

/// Over all ranks; rank 0 prints the summary on standard output and writes the folder (its files
/// name --output in errors). What was measured before an error or a stop is printed and kept. An
/// error is the same on every rank.
Expected<int> run_survey(const SurveyOptions& options, Comm& comm, const SurveyHooks& hooks);

}  // namespace numatlas

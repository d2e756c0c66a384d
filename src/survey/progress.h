// The one line that says how far a survey is, on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace numatlas {

/// On a terminal a line that is redrawn; otherwise a line a benchmark; nothing unless `shown`.
class SurveyProgress {
 public:
  SurveyProgress(bool shown, double seconds_asked);
  ~SurveyProgress() { clear(); }
  SurveyProgress(const SurveyProgress&) = delete;
  SurveyProgress& operator=(const SurveyProgress&) = delete;
  /// `done` of `all` points of a benchmark are done.
  void point(const std::string& benchmark, std::size_t done, std::size_t all);
  /// A benchmark has ended: "done", "skipped: ...".
  void end(const std::string& benchmark, const std::string& outcome);
  /// Removes the line, so that other output can be printed.
  void clear() const;
  double seconds() const;

 private:
  std::string head() const;

  bool shown_, terminal_;
  double asked_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace numatlas

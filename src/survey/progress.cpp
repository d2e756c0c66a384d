#include "survey/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/terminal.h"

namespace numatlas {

SurveyProgress::SurveyProgress(bool shown, double seconds_asked)
    : shown_(shown),
      terminal_(isatty(STDERR_FILENO) == 1),
      asked_(seconds_asked),
      start_(std::chrono::steady_clock::now()) {}

double SurveyProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string SurveyProgress::head() const {
  return fmt::format("[{:3.0f} s of {:.0f} s]", seconds(), asked_);
}

void SurveyProgress::point(const std::string& benchmark, std::size_t done, std::size_t all) {
  if (!shown_ || !terminal_) return;
  const std::string line =
      fmt::format("{} {}: {} of {} cases", head(), benchmark, std::min(done + 1, all), all);
  say("\r\033[K" + cut_to_terminal(line, STDERR_FILENO));
}

void SurveyProgress::end(const std::string& benchmark, const std::string& outcome) {
  if (shown_ && !terminal_) say(fmt::format("{} {}: {}\n", head(), benchmark, outcome));
}

void SurveyProgress::clear() const {
  if (shown_ && terminal_) say("\r\033[K");
}

}  // namespace numatlas

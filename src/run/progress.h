// What goes on, on standard error: a bar with the time left on a terminal, a line a case
// otherwise, nothing when quiet or on ranks other than 0.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace numatlas {

class Progress final : public ProgressListener {
 public:
  /// `weights`: how long each scenario takes, relative to each other. `told`: called with the
  /// scenarios done and all of them, instead of anything being shown.
  Progress(bool shown, std::vector<double> weights,
           std::function<void(std::size_t, std::size_t)> told = {});
  ~Progress() override;
  /// What --time leaves at most, of each scenario or of all together; no estimate is longer.
  void limit(double seconds, bool of_all) {
    limit_ = seconds;
    limit_is_of_all_ = of_all;
  }
  /// The weights of the scenarios that are known now. Those that were expected after them stay.
  void expect(const std::vector<double>& weights);
  void begin(std::size_t scenario) { current_ = scenario; }
  /// A scenario has been measured for this part (0 to 1) of what it takes at most.
  void advance(std::size_t scenario, double part);
  void phase(const Scenario& scenario, const std::string& phase) override;
  /// The current scenario has ended ("ok", "skipped: ..."). Told once.
  void end(const Scenario& scenario, const std::string& outcome);
  /// Removes the bar, so that other output can be printed.
  void clear();

 private:
  std::string time_left() const;

  std::function<void(std::size_t, std::size_t)> told_;
  bool shown_, terminal_;
  std::vector<double> weights_;
  std::vector<double> parts_;  ///< done of each
  double total_weight_ = 0, done_weight_ = 0;
  double limit_ = 0;  ///< seconds; 0: none
  bool limit_is_of_all_ = false;
  std::size_t current_ = 0;
  std::set<std::size_t> told_of_;  ///< scenarios that have ended
  std::chrono::steady_clock::time_point start_;
};

}  // namespace numatlas

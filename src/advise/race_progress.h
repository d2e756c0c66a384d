// How a race goes on, on standard error: one line that changes on a terminal; elsewhere a line now
// and then.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "advise/candidates.h"
#include "advise/metric.h"
#include "advise/race.h"

namespace numatlas {

class RaceLine {
 public:
  explicit RaceLine(bool terminal) : terminal_(terminal) {}
  ~RaceLine() { clear(); }
  RaceLine(const RaceLine&) = delete;
  RaceLine& operator=(const RaceLine&) = delete;

  void show(const RaceProgress& progress, const RaceResult& so_far,
            const std::vector<Candidate>& candidates, const Metric& metric);
  /// Before other text is printed.
  void clear();

 private:
  bool terminal_, shown_ = false;
  std::optional<bool> final_;  ///< of the last line
  std::chrono::steady_clock::time_point last_;
};

/// "screening, round 3 of at most 10, 5 candidates; ahead: thp, 31.0 % less time than as it is".
/// Pure.
std::string race_text(const RaceProgress& progress, const RaceResult& so_far,
                      const std::vector<Candidate>& candidates, const Metric& metric);

}  // namespace numatlas

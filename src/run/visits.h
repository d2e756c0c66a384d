// A case over its visits: each visit gives one value for every figure, and the figure of the case
// is an estimate over these.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// One figure over the visits so far.
struct VisitSeries {
  std::vector<double> values;
  /// The least interval that has those within each visit; absent where a visit has none.
  std::optional<double> low, high;
  std::optional<Summary> summary;  ///< of the samples of all visits
  Distribution distribution;       ///< of the same
};

/// What happened on the hosts of a run during a visit.
struct VisitUse {
  std::optional<double> others, stolen;  ///< CPUs, of the host where it was most
  bool disturbed = false;                ///< so much that the visit's figures are not to be trusted
  bool repeated = false;                 ///< it is the second try
  bool counts = false;                   ///< what it found must not be lost: wrong data
  std::optional<double> throttled = {};  ///< CPUs that a quota withheld
};

/// What a case needs to keep between its visits, beside its result.
class CaseVisits {
 public:
  /// Adds what else happened during the visit that was added last: Visits says how.
  void note_use(ScenarioResult& result, const VisitUse& use);
  /// Adds the next visit to the case's result, whose figures become estimates over all visits.
  /// `result` has no flows before the first. `start`, `end`: seconds, from any time.
  void add(ScenarioResult& result, ScenarioResult visit, double start, double end);
  /// The next visit will find the memory of the one before.
  void memory_kept() { ++kept_; }
  int count() const { return count_; }
  /// Start and end of each visit.
  const std::vector<std::pair<double, double>>& times() const { return times_; }

 private:
  /// Host (-1: all), flow (-1: over all flows of it) and key.
  using Name = std::pair<std::pair<int, int>, std::string>;
  void merge(std::vector<Figure>& figures, std::vector<Figure>&& visit, int host, int flow);
  void note_conditions(Visits& visits, const std::vector<FlowResult>& flows) const;
  template <class T>
  void append(std::vector<std::optional<T>>& list, std::optional<T> value) const;
  void note_values(ScenarioResult& result, const ScenarioResult& visit);

  std::map<Name, VisitSeries> series_;
  int count_ = 0, kept_ = 0;
  std::vector<std::pair<double, double>> times_;
};

/// Whether all measured flows' first figures are known as well as was asked for, over enough
/// visits.
bool has_converged(const ScenarioResult& result, double precision);

/// Says of each flow how it ended: "converged", or what ended the visits.
void set_stop(ScenarioResult& result, double precision, const std::string& otherwise);

}  // namespace numatlas

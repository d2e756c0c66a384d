// What judges of hosts found, as cases of the common record: one for each figure of a host that is
// worse than it should be.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/peers.h"
#include "record/report.h"

namespace numatlas {

/// A figure of a host that is worse than it should be.
struct Finding {
  static constexpr const char* slow = "slow";        ///< than others
  static constexpr const char* fell = "fell";        ///< against its own past
  static constexpr const char* below = "below";      ///< a limit of --expect
  static constexpr const char* cleared = "cleared";  ///< slow at first, and not when run again
  static constexpr const char* none = "none";        ///< of cases that tell of hosts as a whole

  std::string verdict;
  std::string command, name, metric;  ///< of the case; without a metric: of all cases together
  Unit unit;
  std::optional<double> value, reference;  ///< in the unit
  double change = 0;                       ///< value over reference, less 1
  std::optional<double> mads;
  std::string against;   ///< "8 hosts", "6 earlier runs", "--expect"
  std::string since;     ///< start of the first run of its own that is as slow; "" unless it fell
  std::string evidence;  ///< "every round; confirmed by a second run"
};

/// Of a case, by its rates; times are their reciprocals.
Finding finding_of(const SlowKernel& found, const std::string& name, const std::string& metric,
                   Unit unit);

/// Of a host that is slow: one for each kernel, or of all together where none shows it by itself.
/// `of_case` makes one of a kernel, with what it is of.
std::vector<Finding> findings_of(const SlowHost& slow, const std::string& command,
                                 const std::function<Finding(const SlowKernel&)>& of_case);

ScenarioResult case_of(const std::string& host, const Finding& one);
/// Whether it tells what was judged, and nothing that was measured.
bool is_finding(const ScenarioResult& one);

/// One for each verdict that cases have; `mads` and `drop` of the rule stand below the first.
std::vector<View> views_of_findings(const std::vector<ScenarioResult>& cases, const SlowRule& rule);

/// A figure that counts, or 0 or 1.
Figure plain_figure(const char* key, Unit unit, const std::optional<double>& value);

}  // namespace numatlas

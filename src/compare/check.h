// Stored results of hosts, judged by one rule (analysis/peers.h): hosts against each other, and
// each against its own past. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/peers.h"
#include "base/error.h"
#include "compare/expect.h"
#include "compare/results.h"

namespace numatlas {

inline constexpr std::int64_t seconds_per_day = 24 * 60 * 60;

struct CheckRule {
  SlowRule slow;
  std::string metric;                   ///< only rows of this figure; "": all
  std::vector<Expectation> expected{};  ///< of each host, by itself
  /// Seconds: hosts whose results are all older are not judged. Absent: `usual_age`, and those that
  /// the last night of the others has no result of.
  std::optional<std::int64_t> max_age{};
  std::optional<std::int64_t> now{};  ///< seconds since 1970 that ages are from; absent: the newest
  static constexpr std::int64_t usual_age = 7 * seconds_per_day;
};

/// Judges the newest run of each command and host. `results` without copies (without_copies), by
/// the names of name_hosts; hosts in its `open` are not judged whatever the runs say. The report
/// has a case for each finding (finding_of), and one for each host: labels `host` and
/// `judged_against`, figures `host_judged`, `host_slow`, ...; its answer: "SLOW 1 of 8: n3 (triad
/// -18 %, add -11 %); FELL 1: n5 (add -11 % since 12 Nov)". Error (usage): an expectation that no
/// run has a figure for.
Expected<RunReport> check(const Results& results, const CheckRule& rule);

/// "judged against: hosts of the same kind (6 hosts), --expect (1 host)", of its report, with the
/// end of the line; "" where no host was.
std::string judged_against_text(const RunReport& report);

}  // namespace numatlas

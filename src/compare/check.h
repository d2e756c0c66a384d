// Stored results of hosts, judged by one rule (analysis/peers.h): hosts against each other, and
// each against its own past. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings.h"
#include "compare/expect.h"
#include "compare/host_names.h"
#include "compare/stored.h"

namespace numatlas {

inline constexpr std::int64_t seconds_per_day = 24 * 60 * 60;

struct CheckRule {
  SlowRule slow;
  std::string metric;                   ///< only cases of this one; "": all
  std::vector<Expectation> expected{};  ///< of each host, by itself
  /// Seconds: hosts whose results are all older are not judged. Absent: `usual_age`, and those that
  /// the last night of the others has no result of.
  std::optional<std::int64_t> max_age{};
  std::optional<std::int64_t> now{};  ///< seconds since 1970 that ages are from; absent: the newest
  static constexpr std::int64_t usual_age = 7 * seconds_per_day;
};

/// Why a host was not judged.
struct Unjudged {
  std::string command;  ///< that says nothing of it; "" for all
  std::string reason;
  std::string brief{};  ///< for the first line: "last seen 3 Nov"
  friend bool operator==(const Unjudged&, const Unjudged&) = default;
};

struct CheckedHost {
  std::string name;
  std::vector<Finding> findings;  ///< the largest change first
  std::vector<Unjudged> unjudged;
  bool judged = false;     ///< by any command
  std::string distrust;    ///< why its newest figures are unreliable; "" if they are not
  std::string incomplete;  ///< why its newest run did not run to its end; "" where it did
  std::string newest;      ///< start of its newest run
  std::size_t runs = 0, slow_runs = 0;  ///< that were compared with those of other hosts; slow ones

  bool has(const char* verdict) const;
};

struct Checked {
  CheckRule rule;
  std::vector<CheckedHost> hosts;  ///< by name
  std::vector<std::string> notes;
  std::string engine;                 ///< of the newest run
  std::optional<TwoGroups> groups{};  ///< that hosts of a kind fall into
  std::vector<Error> broken{};        ///< files that should be results, and cannot be used
  std::vector<Error> closed{};        ///< folders that may not be read

  std::size_t count(const char* verdict) const;  ///< hosts
  std::size_t not_judged() const;
};

/// Judges the newest run of each command and host. `runs` without copies (without_copies), by the
/// names of name_hosts. `open`: hosts that are not judged whatever the runs say. Error (usage): an
/// expectation that no run has a figure for.
Expected<Checked> check_runs(const std::vector<StoredRun>& runs, const CheckRule& rule,
                             const std::vector<OpenHost>& open = {});

/// Whether so many of all are nearly all: what they have in common is no matter of each.
inline bool is_most(std::size_t some, std::size_t all) { return some >= 3 && 4 * some >= 3 * all; }
/// "3 Nov" of a start in UTC.
std::string date_text(const std::string& started);

/// What it found, in a line: "SLOW 1 of 8: n3 (triad -18 %, add -11 %); FELL 1: n5 (add -11 % since
/// 12 Nov)".
std::string answer_of(const Checked& checked);

/// The common record: a case for each finding, and one for each host.
RunReport report_of(const Checked& checked);

}  // namespace numatlas

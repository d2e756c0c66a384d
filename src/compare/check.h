// Stored results of hosts, judged by one rule (analysis/peers.h): hosts against each other, and
// each against its own past. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings.h"
#include "compare/expect.h"
#include "compare/stored.h"

namespace numatlas {

struct CheckRule {
  SlowRule slow;
  std::string metric;                   ///< only cases of this one; "": all
  std::vector<Expectation> expected{};  ///< of each host, by itself
};

/// Why a host was not judged.
struct Unjudged {
  std::string command;  ///< that says nothing of it; "" for an expectation
  std::string reason;
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
  std::string engine;      ///< of the newest run
  std::size_t broken = 0;  ///< files that should be results, and cannot be used

  std::size_t count(const char* verdict) const;  ///< hosts
  std::size_t not_judged() const;
};

/// Judges the newest run of each command and host. `runs` without copies (without_copies). Error
/// (usage): an expectation that no run has a figure for.
Expected<Checked> check_runs(const std::vector<StoredRun>& runs, const CheckRule& rule);

/// What it found, in a line: "SLOW 1 of 8: n3 (triad -18 %, add -11 %); FELL 1: n5 (add -11 % since
/// 12 Nov)".
std::string answer_of(const Checked& checked);

/// The common record: a case for each finding, and one for each host.
RunReport report_of(const Checked& checked);

}  // namespace numatlas

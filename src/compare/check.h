// Stored results of hosts, judged by one rule (analysis/peers.h): hosts against each other, and
// each against its own past. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/expect.h"
#include "compare/stored.h"
#include "record/fleet.h"

namespace numatlas {

struct CheckRule {
  SlowRule slow;
  std::string metric;                   ///< only cases of this one; "": all
  std::vector<Expectation> expected{};  ///< of each host, by itself
};

/// A figure of a host that is worse than it should be.
struct Finding {
  static constexpr const char* slow = "slow";    ///< than others
  static constexpr const char* fell = "fell";    ///< against its own past
  static constexpr const char* below = "below";  ///< a limit of --expect

  std::string verdict;
  std::string command, name, metric,
      unit;                                ///< of the case; without a metric: of all cases together
  std::optional<double> value, reference;  ///< in the unit
  double change = 0;                       ///< value over reference, less 1
  std::optional<double> mads;
  std::string against;   ///< "8 hosts", "6 earlier runs", "--expect"
  std::string since;     ///< start of the first run of its own that is as slow; "" unless it fell
  std::string evidence;  ///< "every round; confirmed by a second run"
};

struct CheckedHost {
  std::string name;
  std::vector<Finding> findings;        ///< the largest change first
  std::vector<std::string> unjudged;    ///< why each command says nothing of it
  bool judged = false;                  ///< by any command
  std::string newest;                   ///< start of its newest run
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

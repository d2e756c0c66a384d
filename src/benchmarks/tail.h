// --tail of the benchmarks that chase: how slow single loads are, from groups of loads that are
// timed one by one (kernels/group_times.h).
#pragma once

#include <string>
#include <vector>

#include "base/cli_forward.h"
#include "engine/scenario.h"
#include "record/report.h"
#include "report/rules.h"

namespace numatlas {

class TailOption {
 public:
  void add_to(CLI::App& app, bool is_rare = false);
  bool asked() const { return asked_; }
  // All of these do nothing where it was not asked for.
  /// Has the chase of a flow time groups.
  void set(Flow& flow) const;
  /// Of a flow in one visit; a load has none.
  std::vector<Figure> figures(const FlowResult& flow) const;
  /// Sets the tail figures of flows to those of all visits together, with the intervals over
  /// visits.
  void conclude(RunReport& report) const;
  /// A table of all cases, which these labels tell apart.
  std::vector<Table> tables(const std::vector<std::string>& labels) const;

 private:
  bool asked_ = false;
  unsigned loads_ = 8;
};

/// Of groups of so many loads: the mean load of the median group ("tail_p50", in s); the time of a
/// group's slowest load, if its others took what is usual, that 90, 99, 99.9 and 99.99 per cent of
/// the groups do not exceed, and the longest ("tail_p90" ... "tail_p9999", "tail_max"); what part
/// of all loads is slow, and how long these take on average ("tail_slow", "tail_slow_time"). Pure.
std::vector<Figure> tail_figures(const Distribution& groups, unsigned loads);

/// What the first line says of a case's tail beside its latency, p99, p99.9 and the share
/// of slow loads; of several pairs of nodes p99.9 and the share of each. Shown under `heading`.
std::vector<Fact> tail_facts(const Case& one, const std::string& heading);

}  // namespace numatlas

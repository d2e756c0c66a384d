// Where a curve of latency under load bends, where it reaches a part of its peak, and what a survey
// says of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/buffer.h"
#include "record/labels.h"
#include "record/report.h"
#include "report/rules.h"

namespace numatlas {

/// A point of a curve, in the order of what was asked for: its load in B/s and its latency in s.
struct LoadedPoint {
  Estimate load, latency;
};

struct Knee {
  std::optional<Estimate> load;  ///< at the knee, in B/s; absent: there is none up to `highest`
  double latency = 0;            ///< there, in s
  double highest = 0;            ///< load of the curve
};

/// The knee is where two straight lines meet that fit the points better than one does, by more than
/// their errors (an F test at 1 %), the second of them at least twice as steep and 10 % of the idle
/// latency higher at its end than the first would be. Its interval is that of the places where two
/// lines fit about as well. Points that have no more load than one before them are left out: there
/// the memory is saturated. Nothing where fewer than 6 points are left, or one has no interval or
/// is unknown. Pure.
std::optional<Knee> knee_of(std::span<const LoadedPoint> points);

/// The label `load` of the points without a load, and with all that there is.
inline constexpr const char *idle_load = "idle", *peak_load = "peak";
/// That of the points with a part of it: "50%".
std::string part_load(int percent);
/// What the points of a curve have alike.
inline const std::vector<std::string> curve_of_cpus{"pages", "cpu_node", "memory_node",
                                                    "load_kernel"},
    curve_of_gpus{"pages", "gpus", "memory", "load_kernel"};
/// That of CPUs.
Table curve_table();
/// Orders the cases that are alike in these labels from the least load that was asked for to all
/// that there is: in the order of what was reached, a busy machine would mix them up.
void order_by_load(RunReport& report, const std::vector<std::string>& labels);
/// Orders the points of each curve by what was asked for, and adds where it bends and its latency
/// at 80 % of the peak: of the point that was asked for this load, where it reached it. Without
/// such a point: where the load is 80 % of the largest of all, between the points next to it. The
/// knee is of the first point that has its load.
void conclude_curves(RunReport& report);
/// "rate_asked" of the loaders together in B/s; nothing where they were asked for none.
std::vector<Figure> rate_asked(const Case& visit);
/// The case with these values of these labels; nullptr where there is none.
const Case* case_with(const RunReport& report, PageKind pages,
                      const std::vector<std::string>& labels,
                      const std::vector<std::string>& values);
/// Rates that were not reached, and peaks whose parts are no better known than they are.
std::vector<Warning> curve_warnings(const RunReport& report);

/// Of each pair of nodes the latency while idle, at half of the peak, at 80 % of it and at the
/// peak, and the knee, under reads.
std::vector<Fact> loaded_facts(const RunReport& report);

}  // namespace numatlas

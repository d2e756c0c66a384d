// Where a curve of loaded latency reaches a part of its peak, and what a survey says of it.
#pragma once

#include <string>
#include <vector>

#include "record/labels.h"
#include "record/report.h"
#include "report/rules.h"

namespace numatlas {

/// The label `load` of the points without a load, and with all that there is.
inline constexpr const char *idle_load = "idle", *peak_load = "peak";
/// What the points of a curve have alike.
inline const std::vector<std::string> curve_of_cpus{"pages", "cpu_node", "memory_node",
                                                    "load_kernel"},
    curve_of_gpus{"pages", "gpus", "memory", "load_kernel"};
/// That of CPUs.
Table curve_table();
/// Orders the points of each curve by what was asked for, and adds where it bends and its latency
/// at 80 % of the peak: of the point that was asked for this load, where it reached it. Without
/// such a point: where the load is 80 % of the largest of all, between the points next to it. The
/// knee is of the first point that has its load.
void conclude_curves(RunReport& report);
/// Rates that were not reached, and peaks whose parts are no better known than they are.
std::vector<Warning> curve_warnings(const RunReport& report);

/// Of each pair of nodes the latency while idle, at half of the peak, at 80 % of it and at the
/// peak, and the knee, under reads.
std::vector<Fact> loaded_facts(const RunReport& report);

}  // namespace numatlas

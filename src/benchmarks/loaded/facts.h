// Where a curve of loaded latency reaches a part of its peak, and what a survey says of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/loaded/knee.h"
#include "record/labels.h"
#include "record/report.h"

namespace numatlas {

/// The label `load` of the points without a load, and with all that there is.
inline constexpr const char *idle_load = "idle", *peak_load = "peak";
/// The figure that a curve has once.
inline constexpr const char* at_80_percent = "latency_at_80_percent";

/// What loads the memory at a point, in B/s; 0 where nothing does.
double load_rate_of(const ScenarioResult& point);

/// Whether the loaders moved what they were asked to: starved ones are no load of so many percent.
bool reached_its_rate(const ScenarioResult& point);

/// The latency at a part of the peak, on the line between two points of a curve. Its interval is as
/// wide as the points' latencies and loads and the peak itself leave it: an error in a load counts
/// times the slope. Where one of them has no interval, it has none. Nothing where the points are
/// further apart than a third of the peak.
std::optional<Estimate> latency_between(const ScenarioResult& before, const ScenarioResult& after,
                                        const ScenarioResult& peak, double part);

/// What the points of a curve have alike.
std::vector<std::string> curve_labels(const RunReport& report);
/// The points of each kernel between the same nodes, and the idle one that these start with.
std::vector<CaseGroup> curves_of(const RunReport& report);
/// Where a curve bends; nothing where that cannot be told (knee_of).
std::optional<Knee> knee_of(const CaseGroup& curve);

/// Of each pair of nodes the latency while idle, at half of the peak, at 80 % of it and at the
/// peak, and the knee, under reads.
std::vector<Fact> loaded_facts(const RunReport& report);

}  // namespace numatlas

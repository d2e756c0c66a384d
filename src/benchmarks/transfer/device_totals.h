// What a point's copies are together: whether they ran together, by the times of their steps, and
// what their links carry at most. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Start and duration of each step of a flow, in ns.
using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Of the time in which any of the flows had a step under way, the part in which all had; between
/// the last first start and the first last end. nullopt for fewer than two flows, or without such a
/// time.
std::optional<double> overlap_of(const std::vector<const Steps*>& flows);

/// What the links of a point's GPUs carry at most, in B/s, over the directions that it copies in;
/// GPUs behind one switch share its link. nullopt where some link is not known, and between GPUs.
std::optional<double> link_limit(const Case& one, const RunReport& report);

/// "event_bandwidth_sum" in B/s: what the GPUs' own clocks add up to, and "copies_overlap", the
/// least of any host, 0 to 1, of points with several copies of GPUs (those that are held to a rate
/// do not count); "link_part": the aggregate over the links' limit, of points of nothing else.
std::vector<Figure> device_totals(const Case& one, const RunReport& report);

/// Copies that took turns, and memory that left its place between its pinning and the end.
std::vector<Warning> device_warnings(const RunReport& report);

}  // namespace numatlas

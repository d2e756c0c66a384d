// Whether copies that were started together ran together, by the times of their steps. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "report/result.h"

namespace numatlas {

/// Start and duration of each step of a flow, in ns.
using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Of the time in which any of the flows had a step under way, the part in which all had; between
/// the last first start and the first last end. nullopt for fewer than two flows, or without such a
/// time.
std::optional<double> overlap_of(const std::vector<const Steps*>& flows);

/// "event_bandwidth_sum" in B/s: what the GPUs' own clocks add up to; "copies_overlap": the least
/// of any host, 0 to 1. Of points with several copies of GPUs, none of which is held to a rate.
std::vector<Metric> together_totals(const ScenarioResult& point, const RunReport& report);

/// Points of nothing but copies of GPUs that took turns, in words.
std::vector<std::string> serialised_warnings(const RunReport& report);

/// Points whose memory of the host left its place while it was pinned, or meanwhile: a line each.
std::string moved_text(const RunReport& report);

}  // namespace numatlas

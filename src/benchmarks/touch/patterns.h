// Who touches whose memory first, and what that costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// The worker that touches first what `worker` of `workers` then uses: itself ("own"), worker 0
/// ("other"), or the next one ("crossed").
int toucher_of(const std::string& pattern, int worker, int workers);

/// The same worker with memory that it touched first itself, in the same run (alone, or together)
/// of the same kernel and size; null where that was not measured.
const FlowResult* own_of(const RunReport& report, const ScenarioResult& point,
                         const FlowResult& flow);

/// How many times as long an access of `flow` at `point` takes as one of own_of.
std::optional<Estimate> against_own(const RunReport& report, const ScenarioResult& point,
                                    const FlowResult& flow);

/// Whether a ratio differs from 1 by more than its interval.
bool is_told(const Estimate& ratio);

/// "access_time" and "pass_time" in s: for a line of 64 bytes, read, written, or both; and for as
/// many as the size holds. Nothing where nothing was measured.
std::vector<Figure> access_figures(const FlowResult& flow, const ScenarioResult& point);

}  // namespace numatlas

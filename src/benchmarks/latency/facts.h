// What a survey says of idle latency.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Of the points of --control-stride.
inline const std::vector<std::pair<std::string, std::string>> control_label{{"control", "stride"}};
bool is_control(const ScenarioResult& one);

/// The latency of each cache and where it ends, of one that the machine does not list as well; of
/// memory with each kind of pages; and of the points of --control-stride.
std::vector<Fact> latency_facts(const RunReport& report);

}  // namespace numatlas

// The facts of each benchmark's report. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "survey/summary.h"

namespace numatlas {

/// A fact of that figure.
SurveyFact fact_of(std::string key, std::vector<std::pair<std::string, std::string>> where,
                   std::string words, const char* unit, const Estimate& estimate);

/// A metric of a point's measured flows: the median over them, with the widest of their intervals.
std::optional<Estimate> median_over_flows(const ScenarioResult& point, const std::string& metric);
/// A sum over a point's flows; of several hosts the median of theirs.
std::optional<Estimate> sum_of(const ScenarioResult& point, const std::string& total);

std::vector<SurveyFact> matrix_facts(const RunReport& report);
std::vector<SurveyFact> latency_facts(const RunReport& report);
std::vector<SurveyFact> bandwidth_facts(const RunReport& report);
std::vector<SurveyFact> loaded_facts(const RunReport& report);
std::vector<SurveyFact> cores_facts(const RunReport& report);
std::vector<SurveyFact> copy_facts(const RunReport& report);
std::vector<SurveyFact> touch_facts(const RunReport& report);
std::vector<SurveyFact> weights_facts(const RunReport& report);
std::vector<SurveyFact> transfer_facts(const RunReport& report);

}  // namespace numatlas

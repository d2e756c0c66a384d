#include "survey/facts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "benchmarks/metrics.h"

namespace numatlas {

SurveyFact fact_of(std::string key, std::vector<std::pair<std::string, std::string>> where,
                   std::string words, const char* unit, const Estimate& estimate) {
  return {std::move(key), std::move(where), std::move(words), estimate.value,
          unit,           estimate.low,     estimate.high};
}

namespace {

const Figure* total_named(const std::vector<Figure>& totals, const std::string& key) {
  const Figure* const found = find_figure(totals, key);
  return found == nullptr || !found->estimate ? nullptr : found;
}

}  // namespace

std::optional<Estimate> median_over_flows(const ScenarioResult& point, const std::string& metric) {
  std::vector<Estimate> all;
  if (point.status != Status::ok) return std::nullopt;
  for (const FlowResult& flow : point.flows) {
    const Figure* const found = flow.load ? nullptr : find_figure(flow, metric);
    if (found != nullptr && found->value()) all.push_back(*found->estimate);
  }
  return median_of(all);
}

std::optional<Estimate> sum_of(const ScenarioResult& point, const std::string& total) {
  if (point.status != Status::ok) return std::nullopt;
  std::vector<Estimate> all;
  for (const HostTotals& host : point.host_totals) {
    if (const Figure* const sum = total_named(host.figures, total)) all.push_back(*sum->estimate);
  }
  if (all.empty()) {
    if (const Figure* const sum = total_named(point.figures, total)) all.push_back(*sum->estimate);
  }
  return median_of(all);
}

}  // namespace numatlas

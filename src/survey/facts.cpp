#include "survey/facts.h"

#include <algorithm>

#include "benchmarks/metrics.h"

namespace numatlas {

SurveyFact fact_of(std::string key, std::vector<std::pair<std::string, std::string>> where,
                   std::string words, const char* unit, const Estimate& estimate) {
  SurveyFact fact{std::move(key), std::move(where), std::move(words), estimate.value, unit, {}, {}};
  if (estimate.width) {
    fact.low = estimate.value * std::max(0.0, 1 - *estimate.width);
    fact.high = estimate.value * (1 + *estimate.width);
  }
  return fact;
}

namespace {

std::optional<Estimate> median_of_all(const std::vector<Estimate>& all) {
  std::vector<double> values;
  std::optional<double> widest;
  bool all_have = true;
  for (const Estimate& one : all) {
    values.push_back(one.value);
    all_have = all_have && one.width;
    if (one.width) widest = std::max(widest.value_or(0), *one.width);
  }
  const auto summary = summarize(values);
  if (!summary) return std::nullopt;
  return Estimate{summary->median, all_have ? widest : std::nullopt};
}

/// The larger side of its interval.
std::optional<double> width_of(const Metric& metric, const FlowResult& flow) {
  const double value = *metric.value;
  if (!metric.summary || !(value > 0)) return flow.half_width;
  const auto interval = interval_of(value, *metric.summary, flow.half_width);
  if (!interval) return flow.half_width;
  return std::max(interval->high - value, value - interval->low) / value;
}

const Metric* total_named(const std::vector<Metric>& totals, const std::string& name) {
  const auto found = std::find_if(totals.begin(), totals.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == totals.end() || !found->value ? nullptr : &*found;
}

}  // namespace

std::optional<Estimate> median_over_flows(const ScenarioResult& point, const std::string& metric) {
  std::vector<Estimate> all;
  if (point.status != Status::ok) return std::nullopt;
  for (const FlowResult& flow : point.flows) {
    const Metric* const found = flow.load ? nullptr : find_metric(flow, metric);
    if (found != nullptr && found->value) all.push_back({*found->value, width_of(*found, flow)});
  }
  return median_of_all(all);
}

std::optional<Estimate> sum_of(const ScenarioResult& point, const std::string& total) {
  if (point.status != Status::ok) return std::nullopt;
  std::vector<Estimate> all;
  for (const HostTotals& host : point.host_totals) {
    if (const Metric* const sum = total_named(host.totals, total))
      all.push_back({*sum->value, half_width_of_sum(*sum)});
  }
  if (all.empty()) {
    if (const Metric* const sum = total_named(point.totals, total))
      all.push_back({*sum->value, half_width_of_sum(*sum)});
  }
  return median_of_all(all);
}

Estimate ratio_of(const Estimate& one, const Estimate& other) {
  Estimate ratio{one.value / other.value, {}};
  // Both at their ends; the larger side.
  if (one.width && other.width && *other.width < 1)
    ratio.width = (1 + *one.width) / (1 - *other.width) - 1;
  return ratio;
}

}  // namespace numatlas

#include "run/visits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "record/figure.h"

namespace numatlas {
namespace {

/// The part of a flow that no figure holds: sums of what adds up, the last of what is observed.
void merge_facts(FlowResult& into, FlowResult& visit) {
  const double weight = into.together, other = visit.together;
  if (into.overlap && visit.overlap && weight + other > 0)
    visit.overlap = (*into.overlap * weight + *visit.overlap * other) / (weight + other);
  visit.together += into.together;
  visit.pauses.insert(visit.pauses.begin(), into.pauses.begin(), into.pauses.end());
  visit.samples.insert(visit.samples.begin(), into.samples.begin(), into.samples.end());
  visit.distribution = merged(into.distribution, visit.distribution);
  visit.stopped += into.stopped;
  visit.involuntary_switches += into.involuntary_switches;
  visit.prepare_time += into.prepare_time;
  visit.start_lateness = std::max(visit.start_lateness, into.start_lateness);
  visit.cpu_before = into.cpu_before;
  if (into.wrong) visit.wrong = into.wrong;
  if (into.gpu && visit.gpu && visit.gpu->slowed_by.empty())
    visit.gpu->slowed_by = into.gpu->slowed_by;
  for (Warning& warning : visit.warnings) {
    const bool known = std::any_of(into.warnings.begin(), into.warnings.end(),
                                   [&](const Warning& w) { return w.code == warning.code; });
    if (!known) into.warnings.push_back(std::move(warning));
  }
  visit.warnings = std::move(into.warnings);
}

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> least_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::min_element(values.begin(), values.end());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return percentile_sorted(values, 50);
}

}  // namespace

void CaseVisits::merge(std::vector<Figure>& figures, std::vector<Figure>&& visit, int host,
                       int flow) {
  for (Figure& one : visit) {
    auto found = std::find_if(figures.begin(), figures.end(),
                              [&](const Figure& figure) { return figure.key == one.key; });
    if (found == figures.end()) {
      figures.push_back({one.key, one.unit, std::nullopt, std::nullopt});
      found = figures.end() - 1;
    }
    if (!one.estimate) continue;
    VisitSeries& series = series_[{{host, flow}, one.key}];
    const bool first = series.values.empty();
    series.values.push_back(one.estimate->value);
    if (!one.estimate->low || (!first && !series.low)) {
      series.low = series.high = std::nullopt;
    } else {
      series.low = first ? *one.estimate->low : std::min(*series.low, *one.estimate->low);
      series.high = first ? *one.estimate->high : std::max(*series.high, *one.estimate->high);
    }
    series.distribution = merged(series.distribution, one.distribution);
    if (series.summary && one.summary)
      series.summary = combined(*series.summary, *one.summary, series.distribution);
    else if (one.summary)
      series.summary = one.summary;
    // A single visit says all that is known, and what never differs was not measured.
    const bool constant =
        !series.low && std::all_of(series.values.begin(), series.values.end(),
                                   [&](double value) { return value == series.values.front(); });
    found->estimate = first || constant
                          ? one.estimate
                          : estimate_of_visits(series.values, series.low, series.high);
    found->summary = series.summary;
  }
}

/// A rate of operations is the inverse of their time, over all visits as in each: the mean of the
/// visits' rates would be another one.
void invert_rates(ScenarioResult& result) {
  double all = 0;
  for (FlowResult& flow : result.flows) {
    for (Figure& rate : flow.figures) {
      const auto& time = flow.figures.front().estimate;
      if (rate.key != "operations" || !rate.estimate || !time || !(time->value > 0)) continue;
      rate.estimate = divided_into(1, *time);
      all += rate.estimate->value;
    }
  }
  for (Figure& sum : result.figures)
    if (sum.key == "operations_sum" && sum.estimate && all > 0)
      sum.estimate = as_sure_as(all, *sum.estimate);
}

void CaseVisits::note_values(ScenarioResult& result, const ScenarioResult& visit) {
  const auto note = [&](const std::string& key, Unit unit, double value) {
    auto& figures = result.visits->figures;
    auto found = std::find_if(figures.begin(), figures.end(),
                              [&](const VisitValues& figure) { return figure.key == key; });
    if (found == figures.end()) {
      figures.push_back({key, unit, {}, value});
      found = figures.end() - 1;
    }
    found->values.push_back(value);
    found->best = unit.better() == Better::lower ? std::min(found->best, value)
                                                 : std::max(found->best, value);
  };
  std::vector<double> values;
  const Figure* first = nullptr;
  for (const FlowResult& flow : visit.flows) {
    if (flow.load || flow.figures.empty() || !flow.figures.front().estimate) continue;
    if (first == nullptr) first = &flow.figures.front();
    if (flow.figures.front().key == first->key)
      values.push_back(flow.figures.front().estimate->value);
  }
  if (first != nullptr) note(first->key, first->unit, median_of(std::move(values)));
  for (const Figure& figure : visit.figures) {
    if (figure.estimate && (first == nullptr || figure.key != first->key))
      note(figure.key, figure.unit, figure.estimate->value);
  }
}

/// Lists stay empty until something is known, and have then an entry for each visit.
template <class T>
void CaseVisits::append(std::vector<std::optional<T>>& list, std::optional<T> value) const {
  if (!value && list.empty()) return;
  list.resize(static_cast<std::size_t>(count_) - 1);
  list.push_back(value);
}

void CaseVisits::note_use(ScenarioResult& result, const VisitUse& use) {
  Visits& visits = *result.visits;
  append(visits.others, use.others);
  append(visits.stolen, use.stolen);
  append(visits.throttled, use.throttled);
  visits.repeated += use.repeated ? 1 : 0;
  visits.disturbed += use.disturbed ? 1 : 0;
}

void CaseVisits::note_conditions(Visits& visits, const std::vector<FlowResult>& flows) const {
  std::optional<std::uint64_t> moved, switches;
  std::optional<double> stopped;
  std::vector<double> cpus, gpus;
  for (const FlowResult& flow : flows) {
    if (flow.pages_moved) moved = moved.value_or(0) + *flow.pages_moved;
    if (flow.frequency) cpus.push_back(*flow.frequency);
    if (flow.gpu && flow.gpu->frequency) gpus.push_back(*flow.gpu->frequency);
    if (flow.load) continue;
    switches = switches.value_or(0) + flow.involuntary_switches;
    stopped = std::max(stopped.value_or(0), flow.stopped);
  }
  append(visits.pages_moved, moved);
  append(visits.switches, switches);
  append(visits.stopped, stopped);
  append(visits.frequency, mean_of(cpus));
  append(visits.gpu_frequency, least_of(gpus));
}

void CaseVisits::add(ScenarioResult& result, ScenarioResult visit, double start, double end) {
  if (count_++ == 0) result.visits.emplace();
  times_.emplace_back(start, end);
  result.visits->count = count_;
  result.visits->seconds = end - times_.front().first;
  result.visits->memory_kept = kept_;
  note_values(result, visit);
  note_conditions(*result.visits, visit.flows);
  std::vector<FlowResult> before = std::exchange(result.flows, std::move(visit.flows));
  for (FlowResult& flow : result.flows) {
    std::vector<Figure> mine = std::exchange(flow.figures, {});
    const auto earlier = std::find_if(before.begin(), before.end(), [&](const FlowResult& other) {
      return other.worker == flow.worker;
    });
    if (earlier != before.end()) {
      merge_facts(*earlier, flow);
      flow.figures = std::move(earlier->figures);
    }
    merge(flow.figures, std::move(mine), -1, flow.worker);
  }
  merge(result.figures, std::move(visit.figures), -1, -1);
  invert_rates(result);
  for (HostTotals& totals : visit.host_totals) {
    auto mine = std::find_if(result.host_totals.begin(), result.host_totals.end(),
                             [&](const HostTotals& other) { return other.host == totals.host; });
    if (mine == result.host_totals.end())
      mine = result.host_totals.insert(mine, HostTotals{totals.host, {}});
    merge(mine->figures, std::move(totals.figures), totals.host, -1);
  }
}

bool has_converged(const ScenarioResult& result, double precision) {
  return std::all_of(result.flows.begin(), result.flows.end(), [&](const FlowResult& flow) {
    if (flow.load || flow.figures.empty()) return true;
    const auto& estimate = flow.figures.front().estimate;
    if (!estimate || estimate->method != Method::visits) return false;
    const auto width = half_width(*estimate);
    return width && *width <= precision;
  });
}

void set_stop(ScenarioResult& result, double precision, const std::string& otherwise) {
  for (FlowResult& flow : result.flows) {
    // A load has nothing of its own to converge.
    if (flow.load || flow.figures.empty()) continue;
    const auto& estimate = flow.figures.front().estimate;
    const auto width = estimate ? half_width(*estimate) : std::nullopt;
    const bool converged = width && estimate->method == Method::visits && *width <= precision;
    flow.stop = converged ? "converged" : otherwise;
  }
}

}  // namespace numatlas

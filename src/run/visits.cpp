#include "run/visits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "record/figure.h"

namespace numatlas {
namespace {

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

/// The samples of all.
Distribution merged(const std::vector<const Distribution*>& parts) {
  Distribution all;
  for (const Distribution* part : parts) all = merged(all, *part);
  return all;
}

/// One figure over the visits that have it.
Figure figure_over(const std::vector<const Figure*>& visits) {
  Figure all{visits.front()->key, visits.front()->unit, std::nullopt, std::nullopt};
  std::vector<Estimate> estimates;
  std::vector<const Distribution*> distributions;
  const Figure* last = nullptr;  // that has samples
  for (const Figure* one : visits) {
    if (!one->estimate) continue;
    estimates.push_back(*one->estimate);
    distributions.push_back(&one->distribution);
    if (one->summary) last = one;
  }
  for (const Figure* one : visits) {
    if (!one->estimate || !one->summary) continue;
    // Percentiles of all are wanted once.
    const Distribution seen = one == last ? merged(distributions) : Distribution{};
    all.summary = all.summary ? combined(*all.summary, *one->summary, seen) : *one->summary;
  }
  all.estimate = over_visits(estimates);
  return all;
}

/// The figures of all visits, each over those that have it, in the order in which they appear.
std::vector<Figure> figures_over(const std::vector<const std::vector<Figure>*>& visits) {
  std::vector<std::vector<const Figure*>> by_key;
  for (const std::vector<Figure>* figures : visits) {
    for (const Figure& one : *figures) {
      const auto found = std::ranges::find_if(
          by_key, [&](const auto& same) { return same.front()->key == one.key; });
      if (found == by_key.end())
        by_key.push_back({&one});
      else
        found->push_back(&one);
    }
  }
  std::vector<Figure> all;
  for (const auto& same : by_key) all.push_back(figure_over(same));
  return all;
}

/// The part of a flow that no figure holds: sums of what adds up, the last of what is observed.
/// Takes the last of `visits`.
FlowResult facts_over(const std::vector<FlowResult*>& visits) {
  FlowResult all = std::move(*visits.back());
  if (visits.size() == 1) return all;
  std::vector<const Distribution*> distributions;
  std::vector<Warning> warnings;
  Boxed<Error> wrong;
  std::string slowed_by;
  double together = 0, overlap = 0, overlapped = 0;
  for (const FlowResult* one : visits) {
    const bool is_last = one == visits.back();
    const FlowResult& flow = is_last ? all : *one;
    distributions.push_back(&flow.distribution);
    // A visit may have several of a code; what an earlier one said is not said again.
    const std::vector<Warning> before = warnings;
    for (const Warning& warning : flow.warnings)
      if (std::ranges::find(before, warning.code, &Warning::code) == before.end())
        warnings.push_back(warning);
    if (!wrong) wrong = flow.wrong;
    together += flow.together;
    if (flow.overlap) {
      overlap += *flow.overlap * flow.together;
      overlapped += flow.together;
    }
    if (is_last) break;
    all.stopped += flow.stopped;
    all.involuntary_switches += flow.involuntary_switches;
    all.prepare_time += flow.prepare_time;
    if (flow.gpu && !flow.gpu->slowed_by.empty()) slowed_by = flow.gpu->slowed_by;
  }
  if (all.gpu && all.gpu->slowed_by.empty()) all.gpu->slowed_by = slowed_by;
  if (overlapped > 0) all.overlap = overlap / overlapped;
  all.together = together;
  all.cpu_before = visits.front()->cpu_before;
  all.distribution = merged(distributions);
  all.warnings = std::move(warnings);
  all.wrong = std::move(wrong);
  return all;
}

/// A rate of operations is the inverse of their time, over all visits as in each: the mean of the
/// visits' rates would be another one.
void invert_rates(Case& result) {
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

/// Notes the values of a visit: the median of the flows' first figures, and each sum.
void note_values(std::vector<VisitValues>& figures, const Case& visit) {
  const auto note = [&](const std::string& key, Unit unit, double value) {
    auto found = std::ranges::find(figures, key, &VisitValues::key);
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

/// Adds the value of visit number `index`. Lists stay empty until something is known, and have then
/// an entry for each visit.
template <class T>
void put(std::vector<std::optional<T>>& list, std::size_t index, const std::optional<T>& value) {
  if (!value && list.empty()) return;
  list.resize(index);
  list.push_back(value);
}

void note_conditions(Visits& visits, std::size_t index, const std::vector<FlowResult>& flows) {
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
  put(visits.pages_moved, index, moved);
  put(visits.switches, index, switches);
  put(visits.stopped, index, stopped);
  put(visits.frequency, index, mean_of(cpus));
  put(visits.gpu_frequency, index, least_of(gpus));
}

void note_use(Visits& visits, std::size_t index, const VisitUse& use) {
  put(visits.others, index, use.others);
  put(visits.stolen, index, use.stolen);
  put(visits.throttled, index, use.throttled);
  visits.repeated += use.repeated ? 1 : 0;
  visits.disturbed += use.disturbed ? 1 : 0;
}

/// The flows of all visits, by worker, each over its visits.
std::vector<FlowResult> flows_over(std::vector<Case>& each) {
  std::map<int, std::vector<FlowResult*>> by_worker;
  for (Case& visit : each)
    for (FlowResult& flow : visit.flows) by_worker[flow.worker].push_back(&flow);
  std::vector<FlowResult> flows;
  flows.reserve(by_worker.size());
  for (const auto& [worker, visits] : by_worker) {
    std::vector<const std::vector<Figure>*> figures;
    for (const FlowResult* flow : visits) figures.push_back(&flow->figures);
    std::vector<Figure> over = figures_over(figures);
    flows.push_back(facts_over(visits));
    flows.back().figures = std::move(over);
  }
  return flows;
}

std::vector<HostTotals> host_totals_over(const std::vector<Case>& each) {
  std::map<int, std::vector<const std::vector<Figure>*>> by_host;
  for (const Case& visit : each)
    for (const HostTotals& totals : visit.host_totals)
      by_host[totals.host].push_back(&totals.figures);
  std::vector<HostTotals> all;
  for (const auto& [host, figures] : by_host) all.push_back({host, figures_over(figures)});
  return all;
}

}  // namespace

bool Visit::has_wrong_output() const {
  return std::ranges::any_of(flows, [](const FlowResult& flow) { return flow.wrong.has_value(); });
}

int VisitList::whole() const {
  return static_cast<int>(std::ranges::count(visits, Status::ok, &Visit::status));
}

void VisitList::drop_flows() {
  for (Visit& visit : visits) {
    std::vector<FlowResult> kept;
    for (FlowResult& flow : visit.flows) {
      const bool has_figures = std::ranges::all_of(
          flow.figures, [](const Figure& figure) { return figure.estimate.has_value(); });
      if (kept.empty() || flow.wrong || !has_figures) kept.push_back(std::move(flow));
    }
    visit.flows = std::move(kept);
  }
}

std::optional<Estimate> over_visits(std::span<const Estimate> visits) {
  if (visits.empty()) return std::nullopt;
  const Estimate& last = visits.back();
  if (visits.size() == 1) return last;
  std::vector<double> values;
  std::optional<double> low = last.low, high = last.high;
  for (const Estimate& one : visits) {
    values.push_back(one.value);
    if (low && one.low) {
      low = std::min(*low, *one.low);
      high = std::max(*high, *one.high);
    } else {
      low = high = std::nullopt;
    }
  }
  const bool constant =
      !low && std::ranges::all_of(values, [&](double value) { return value == values.front(); });
  return constant ? last : estimate_of_visits(values, low, high);
}

void join_visits(Case& result, std::vector<Case> each, std::span<const Visit* const> visits) {
  Visits& all = result.visits.emplace();
  all.count = static_cast<int>(visits.size());
  all.seconds = visits.back()->end - visits.front()->start;
  std::vector<const std::vector<Figure>*> sums;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    all.memory_kept += visits[i]->memory_kept ? 1 : 0;
    note_values(all.figures, each[i]);
    note_conditions(all, i, each[i].flows);
    note_use(all, i, visits[i]->use);
    sums.push_back(&each[i].figures);
  }
  result.figures = figures_over(sums);
  result.host_totals = host_totals_over(each);
  result.flows = flows_over(each);
  invert_rates(result);
}

bool has_converged(const VisitList& list, double precision) {
  if (list.visits.empty()) return false;
  for (std::size_t i = 0; i < list.visits.front().flows.size(); ++i) {
    std::vector<Estimate> estimates;
    bool watched = true;
    for (const Visit& visit : list.visits) {
      if (visit.status != Status::ok || i >= visit.flows.size()) continue;
      const FlowResult& flow = visit.flows[i];
      watched = !flow.load && !flow.figures.empty();
      if (watched && flow.figures.front().estimate)
        estimates.push_back(*flow.figures.front().estimate);
    }
    if (!watched) continue;
    const auto estimate = over_visits(estimates);
    if (!estimate || estimate->method != Method::visits) return false;
    const auto width = half_width(*estimate);
    if (!width || *width > precision) return false;
  }
  return true;
}

void set_stop(Case& result, double precision, bool ended) {
  for (FlowResult& flow : result.flows) {
    // A load has nothing of its own to converge.
    if (flow.load || flow.figures.empty()) continue;
    const auto& estimate = flow.figures.front().estimate;
    const auto width = estimate ? half_width(*estimate) : std::nullopt;
    const bool converged = width && estimate->method == Method::visits && *width <= precision;
    if (converged || !ended) flow.stop = converged ? "converged" : "interrupted";
  }
}

bool Repeats::again(const VisitUse& use) {
  constexpr int lasting = 3, at_first = 3, each = 5;
  visits_ += use.repeated ? 0 : 1;
  if (!use.disturbed) in_vain_ = 0;
  if (use.disturbed && use.repeated) ++in_vain_;
  const bool again = use.disturbed && !use.repeated && !use.counts && in_vain_ < lasting &&
                     repeated_ < at_first + visits_ / each;
  repeated_ += again ? 1 : 0;
  return again;
}

}  // namespace numatlas

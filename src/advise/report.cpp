// The advice as the common record.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/advice.h"
#include "base/version.h"

namespace numatlas {
namespace {

constexpr const char* time_key = "run_time";
constexpr const char* metric_key = "metric";
constexpr const char* gain_key = "gain";

const char* key_of(const Metric& metric) { return metric.is_time() ? time_key : metric_key; }
Unit unit_of(const Metric& metric) {
  return metric.is_time() ? Unit("s") : metric.higher() ? Unit("1") : Unit("cost");
}

/// Runs whose figures are reported: those of the final where it has any of this candidate.
std::vector<double> values_of(const Lane& lane, const Metric& metric) {
  const auto has_value = [](const std::optional<double>& cost) { return cost.has_value(); };
  const bool ran_final = std::any_of(lane.final.begin(), lane.final.end(), has_value);
  std::vector<double> values;
  for (const auto& cost : ran_final ? lane.final : lane.screening)
    if (cost) values.push_back(metric.higher() ? 1 / *cost : *cost);
  return values;
}

/// Their geometric mean: two candidates' figures then differ as their gain says, which is made of
/// the logarithms of their ratios.
Estimate typical_of(const std::vector<double>& values) {
  const auto extremes = std::minmax_element(values.begin(), values.end());
  const auto least = extremes.first, most = extremes.second;
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value / *most));
  // A single run has no interval.
  const auto end = [&](double value) {
    return values.size() > 1 ? std::optional(std::log(value / *most)) : std::nullopt;
  };
  Estimate estimate = estimate_of_visits(logarithms, end(*least), end(*most));
  const double unit = *most;
  estimate.value = unit * std::exp(estimate.value);
  if (estimate.low) estimate.low = unit * std::exp(*estimate.low);
  if (estimate.high) estimate.high = unit * std::exp(*estimate.high);
  return estimate;
}

/// Part of the time that is saved, or of the metric that is won.
Figure gain_figure(const Estimate& ratio, const Metric& metric) {
  const auto gain = [&](double log) {
    return metric.higher() ? std::exp(-log) - 1 : 1 - std::exp(log);
  };
  Estimate estimate = ratio;
  estimate.value = gain(ratio.value);
  estimate.low = estimate.high = std::nullopt;
  // An interval that reaches to a tenth or to ten times says nothing.
  const double widest = std::log(10);
  if (*ratio.high - ratio.value < widest && ratio.value - *ratio.low < widest) {
    estimate.low = gain(*ratio.high);
    estimate.high = gain(*ratio.low);
  }
  return {gain_key, "1", estimate, std::nullopt};
}

/// Where its memory lay, as it was seen in a run that was watched.
Residency residency_of(const Look& look, const Machine& machine) {
  Residency residency;
  residency.page_size = machine.page_size.value_or(Bytes{4 * kib});
  residency.thp_fraction = look.huge_share();
  const MemorySample* sample = look.fullest();
  if (sample == nullptr) {
    residency.problem = "the run was too short to observe";
    return residency;
  }
  for (const auto& [node, bytes] : sample->by_node) {
    const std::size_t pages = bytes.value / residency.page_size->value;
    if (pages > 0) residency.pages_by_node[node] = pages;
    residency.pages_total += pages;
  }
  residency.pages_asked = residency.pages_total;
  return residency;
}

FlowResult flow_of(std::size_t index, const Advice& advice) {
  const Candidate& candidate = advice.candidates[index];
  FlowResult flow;
  flow.worker = static_cast<int>(index);
  flow.kernel = "program";
  flow.memory = candidate.layout.memory ? candidate.layout.memory->text() : "inherit";
  flow.stop = advice.race.complete ? "passes" : "interrupted";
  flow.residency.problem = "this run was not observed";
  if (index == 0) flow.residency = residency_of(advice.look, advice.machine);
  if (advice.race.best == index && advice.proof)
    flow.residency = residency_of(*advice.proof, advice.machine);
  return flow;
}

ScenarioResult case_of(std::size_t index, const Advice& advice) {
  const Candidate& candidate = advice.candidates[index];
  ScenarioResult one;
  one.name = candidate.name;
  one.kernel = "program";
  one.pages = candidate.layout.pages ? name_of(*candidate.layout.pages) : "";
  one.labels = {{"candidate", candidate.name}, {"changes", name_of(candidate.axis)}};
  if (index >= advice.tried) {
    one.status = Status::skipped;
    one.reason = candidate.not_tried;
    return one;
  }
  const Lane& lane = advice.race.lanes[index];
  if (!lane.failure.empty()) {
    one.status = Status::failed;
    one.reason = lane.failure;
  }
  const auto values = values_of(lane, advice.metric);
  if (values.empty()) {
    if (one.status == Status::ok) {
      one.status = Status::incomplete;
      one.reason = "no run of it ended in time";
    }
    return one;
  }
  FlowResult flow = flow_of(index, advice);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  flow.figures = {
      {key_of(advice.metric), unit_of(advice.metric), typical_of(values), summarize(values)}};
  one.flows = {std::move(flow)};
  if (lane.against_reference)
    one.figures.push_back(gain_figure(*lane.against_reference, advice.metric));
  Visits visits;
  visits.count = static_cast<int>(values.size());
  visits.seconds = advice.seconds;
  visits.figures = {{key_of(advice.metric), unit_of(advice.metric), values,
                     advice.metric.higher() ? *most : *least, std::nullopt}};
  one.visits = std::move(visits);
  return one;
}

View view_of(const Advice& advice) {
  View view;
  view.title = "Placements, against the program as it is";
  view.cells = {label_column("placement", "candidate")};
  const bool is_time = advice.metric.is_time();
  const bool is_short = is_time && advice.look.run.seconds < 1;
  view.cells.push_back(figure_column(is_short  ? "time in ms"
                                     : is_time ? "time in s"
                                               : "metric",
                                     key_of(advice.metric), is_short ? in_ms : 1,
                                     Part::with_interval, is_short ? 2 : 3));
  view.cells.push_back(figure_column("gain", gain_key, in_percent, Part::value, 1, " %"));
  const auto named = [&](const auto& belongs) {
    std::string names;
    for (std::size_t i = 1; i < advice.tried; ++i)
      if (belongs(advice.race.lanes[i]))
        names += (names.empty() ? "" : ", ") + advice.candidates[i].name;
    return names;
  };
  const std::string finalists = named([](const Lane& lane) { return lane.finalist; });
  const std::string dropped = named([](const Lane& lane) { return lane.dropped_in.has_value(); });
  if (advice.race.rounds > 0)
    view.notes.push_back(
        fmt::format("screening: {} rounds of all in shuffled order{}", advice.race.rounds,
                    dropped.empty() ? "" : "; dropped on the way, behind the leader: " + dropped));
  if (!finalists.empty())
    view.notes.push_back(
        fmt::format("final: {} fresh runs of as it is, {}{}", advice.race.final_rounds, finalists,
                    advice.race.rounds > 0 ? "; all other figures are from the screening" : ""));
  return view;
}

Fact seen(std::string key, std::string words, Unit unit, double value,
          std::vector<std::pair<std::string, std::string>> where = {}) {
  return {std::move(key), std::move(where), std::move(words), unit, Estimate(value)};
}

std::vector<Fact> facts_of(const Advice& advice) {
  if (advice.first_run_cut) return {};
  const Look& look = advice.look;
  std::vector<Fact> facts{
      seen("program_cpus", "CPUs kept busy by the program as it is", "1", look.cpus_used()),
      seen("program_memory", "memory of the program as it is, at most", "B",
           static_cast<double>(look.peak_memory().value)),
      seen("program_faults", "page faults of the program as it is", "1",
           static_cast<double>(look.run.minor_faults + look.run.major_faults))};
  if (look.threads > 0)
    facts.push_back(seen("program_threads", "threads of the program as it is, at most", "1",
                         static_cast<double>(look.threads)));
  if (const auto huge = look.huge_share())
    facts.push_back(seen("program_huge_share", "its share in huge pages", "1", *huge));
  for (const auto& [node, share] : look.node_shares())
    facts.push_back(seen("program_node_share", fmt::format("its share on node {}", node), "1",
                         share, {{"memory_node", std::to_string(node)}}));
  if (advice.race.best) {
    const Figure gain =
        gain_figure(*advice.race.lanes[*advice.race.best].against_reference, advice.metric);
    Fact fact = seen(
        "advised_gain",
        advice.metric.is_time() ? "time saved as advised" : "improvement of the metric as advised",
        "1", 0, {{"candidate", advice.best()->name}});
    fact.estimate = *gain.estimate;
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace

RunReport report_of(const Advice& advice) {
  RunReport report;
  report.command = "advise";
  report.version = version;
  report.arguments = advice.arguments;
  report.started = advice.started;
  report.seconds = advice.seconds;
  report.answer = answer_of(advice);
  report.incomplete_reason = advice.incomplete_reason();
  report.complete = report.incomplete_reason.empty();
  report.comm = "none";
  report.engine = "real";
  report.seed = advice.seed;
  report.hosts = {advice.machine.host};
  report.machines = {advice.machine};
  report.cpu_use = {advice.cpu_use};
  for (std::size_t i = 0; i < advice.tried; ++i) {
    const ProgramLayout& layout = advice.candidates[i].layout;
    WorkerRow worker;
    worker.rank = 0;
    worker.thread = static_cast<int>(i);
    worker.cpus = layout.cpus.value_or(advice.machine.usable_cpus());
    const NodeSet nodes = advice.machine.nodes_of(worker.cpus);
    if (nodes.size() == 1) worker.cpu_node = nodes.front();
    worker.memory = layout.memory ? layout.memory->text() : "inherit";
    report.workers.push_back(std::move(worker));
  }
  for (std::size_t i = 0; i < advice.candidates.size(); ++i)
    report.scenarios.push_back(case_of(i, advice));
  report.warnings = advice.warnings;
  report.views = {view_of(advice)};
  report.facts = facts_of(advice);
  return report;
}

}  // namespace numatlas

#include "advise/advice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "record/labels.h"
#include "report/answer.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

/// Part by which a logarithm of a cost ratio is better: time saved, or metric won.
double gain_of(double log, const Metric& metric) {
  return metric.higher() ? std::exp(-log) - 1 : 1 - std::exp(log);
}

std::string what(const Metric& metric) { return metric.is_time() ? "time" : "of the metric"; }

/// Lines of a heading, the first beside it.
std::string block(const std::string& heading, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += fmt::format("{:<11}{}\n", text.empty() ? heading : "", line);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> words_of_candidates(const std::vector<Candidate>& candidates, bool tried) {
  std::vector<std::vector<std::string>> rows;
  for (const Candidate& one : candidates)
    if (one.not_tried.empty() == tried)
      rows.push_back({printable(one.name), printable(tried ? one.because : one.not_tried)});
  return rows.empty() ? std::vector<std::string>{} : lines_of(aligned(rows, 2));
}

std::string program_line(const std::vector<std::string>& program) {
  std::string line;
  for (const std::string& word : program) line += (line.empty() ? "" : " ") + shell_word(word);
  return printable(line);
}

/// What became of the candidates that failed.
std::vector<std::string> fates(const Advice& advice) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < advice.tried; ++i) {
    const Lane& lane = advice.race.lanes[i];
    const std::string name = printable(advice.candidates[i].name);
    if (!lane.failure.empty()) all.push_back(fmt::format("{} {}", name, printable(lane.failure)));
  }
  return all;
}

/// Where the memory of the best one was seen to lie, in one more run.
std::vector<std::string> proof_words(const Advice& advice) {
  if (!advice.proof || advice.proof->fullest() == nullptr) return {};  // or too short to be seen
  std::vector<std::string> parts;
  for (const auto& [node, share] : advice.proof->node_shares())
    if (share >= 0.005)
      parts.push_back(fmt::format("{:.0f} % of its memory on node {}", 100 * share, node));
  if (const auto huge = advice.proof->huge_share())
    parts.push_back(fmt::format("{:.0f} % in huge pages", 100 * *huge));
  return {fmt::format("{}", fmt::join(parts, ", "))};
}

/// The command lines that start the program as advised.
std::vector<std::string> run_lines(const Advice& advice) {
  std::vector<std::string> lines;
  if (const Candidate* best = advice.best())
    for (const std::string& line : ready_lines(best->layout, advice.program))
      lines.push_back(printable(line));
  return lines;
}

/// How much better a candidate may be after all.
std::string none_better(const Advice& advice) {
  // As a gain, a low ratio of costs is a high one.
  const double open = 100 * gain_of(*advice.race.open, advice.metric);
  const double of_finalists = 100 * gain_of(*advice.race.open_of_finalists, advice.metric);
  constexpr double wide = 5;
  if (open > wide)
    return fmt::format(
        "no placement is significantly better than as it is; the runs vary so much that a gain of "
        "up to {:.0f} % cannot be ruled out",
        open);
  std::string small;
  for (std::size_t i = 1; i < advice.race.lanes.size(); ++i) {
    const Lane& lane = advice.race.lanes[i];
    const auto& ratio = lane.against_reference;
    if (lane.finalist && lane.failure.empty() && ratio && ratio->high && *ratio->high < 0)
      small += fmt::format("; {}: {}, less than --min-effect", printable(advice.candidates[i].name),
                           gain_text(*ratio, advice.metric));
  }
  if (!small.empty()) return "no placement is better than as it is" + small;
  constexpr double shown = 0.05;
  return fmt::format("no placement is better than as it is (within {:.1f} %{})", open,
                     open - of_finalists < shown
                         ? ""
                         : fmt::format("; within {:.1f} % for those run most", of_finalists));
}

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
  if (advice.curve && advice.curve->observed[index])
    flow.residency = residency_of(*advice.curve->observed[index], advice.machine);
  return flow;
}

Case case_of(std::size_t index, const Advice& advice) {
  const Candidate& candidate = advice.candidates[index];
  Case one;
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
  if (advice.curve)
    add_curve_figures(one, *advice.curve, index, candidate, lane, advice.metric);
  else if (lane.against_reference)
    one.figures.push_back(gain_figure(*lane.against_reference, advice.metric));
  Visits visits;
  visits.count = static_cast<int>(values.size());
  visits.seconds = advice.seconds;
  visits.figures = {{key_of(advice.metric), unit_of(advice.metric), values,
                     advice.metric.higher() ? *most : *least, std::nullopt}};
  one.visits = std::move(visits);
  return one;
}

ViewColumn runs_column(const Advice& advice) {
  const bool is_time = advice.metric.is_time();
  const bool is_short = is_time && advice.look.run.seconds < 1;
  return figure_column(is_short  ? "time in ms"
                       : is_time ? "time in s"
                                 : "metric",
                       key_of(advice.metric), is_short ? in_ms : 1, Part::with_interval,
                       is_short ? 2 : 3);
}

std::vector<View> views_of(const Advice& advice) {
  if (advice.curve) return curve_views(*advice.curve, runs_column(advice));
  View view;
  view.title = "Placements, against the program as it is";
  view.cells = {label_column("placement", "candidate"), runs_column(advice)};
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
  return {view};
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
  if (advice.curve)
    for (Fact& fact : curve_facts(*advice.curve, advice.candidates, advice.race, advice.metric))
      facts.push_back(std::move(fact));
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

std::string short_gain_text(double log, const Metric& metric) {
  const double gain = gain_of(log, metric);
  // Time is saved, a metric of which more is better is won; a loss is told the other way round.
  const bool less = (gain >= 0) != metric.higher();
  return fmt::format("{:.1f} % {} {}", 100 * std::abs(gain), less ? "less" : "more", what(metric));
}

std::string gain_text(const Estimate& ratio, const Metric& metric) {
  double low = gain_of(*ratio.high, metric), high = gain_of(*ratio.low, metric);
  if (gain_of(ratio.value, metric) < 0) {
    low = -low;
    high = -high;
    std::swap(low, high);
  }
  return fmt::format("{} ({:.1f} to {:.1f} %)", short_gain_text(ratio.value, metric), 100 * low,
                     100 * high);
}

std::string Advice::incomplete_reason() const {
  if (first_run_cut) return "the program as it is did not end within --time";
  if (race.complete) return "";
  if (!prepare_failure.empty()) return prepare_failure;
  const std::string failure = race.lanes.empty() ? "" : race.lanes[0].failure;
  if (failure.empty()) return "interrupted";
  return (curve ? "the program without a load " : "the program as it is ") + failure;
}

Outcome outcome_of(const Advice& advice) {
  const RaceResult& race = advice.race;
  if (advice.tried < 2) return advice.lacks_time ? Outcome::no_time : Outcome::nothing_to_try;
  if (race.best) return Outcome::better;
  if (!race.complete) {
    const bool has_failed = !race.lanes[0].failure.empty() || !advice.prepare_failure.empty();
    return has_failed ? Outcome::reference_failed : Outcome::interrupted;
  }
  const auto has_failed = [](const Lane& lane) { return !lane.failure.empty(); };
  if (std::all_of(race.lanes.begin() + 1, race.lanes.end(), has_failed))
    return advice.curve ? Outcome::finalists_failed : Outcome::others_failed;
  const auto is_out = [](const Lane& lane) { return !lane.finalist || !lane.failure.empty(); };
  if (race.final_rounds > 0 && std::all_of(race.lanes.begin() + 1, race.lanes.end(), is_out))
    return Outcome::finalists_failed;
  return race.open && race.open_of_finalists ? Outcome::none_better : Outcome::too_few_runs;
}

std::string answer_of(const Advice& advice) {
  const RaceResult& race = advice.race;
  switch (outcome_of(advice)) {
    case Outcome::better:
      return fmt::format(
          "{}: {} than as it is, {} fresh runs of each", printable(advice.best()->name),
          gain_text(*race.lanes[*race.best].against_reference, advice.metric), race.final_rounds);
    case Outcome::none_better:
      return advice.curve
                 ? curve_answer(*advice.curve, advice.candidates, advice.race, advice.metric)
                 : none_better(advice);
    case Outcome::others_failed: return "as it is: every other candidate failed";
    case Outcome::nothing_to_try: return "no candidate can be tried on this machine";
    case Outcome::no_time:
      return advice.first_run_cut
                 ? fmt::format("no answer: {}; increase it", advice.incomplete_reason())
                 : "no answer: no time to try any candidate; increase --time";
    case Outcome::too_few_runs:
      return "no answer: too few runs in the time available; increase --time";
    case Outcome::finalists_failed:
      return advice.curve ? "no answer: each run beside the idle ones failed"
                          : "no answer: each of the fastest candidates failed";
    case Outcome::reference_failed: return "no answer: " + printable(advice.incomplete_reason());
    case Outcome::interrupted: return "stopped before there was an answer";
  }
  return "";
}

std::string candidates_text(const std::vector<Candidate>& candidates) {
  return block("Candidates", words_of_candidates(candidates, true)) +
         block("Not tried", words_of_candidates(candidates, false));
}

std::string advice_text(const Advice& advice) {
  const RunReport report = report_of(advice);
  const Outcome outcome = outcome_of(advice);
  const bool has_figures = outcome == Outcome::better || outcome == Outcome::none_better;
  const std::string why = has_figures ? distrust_of(report) : "";
  std::string text = with_reserve(reserve_text(why, ""), report.answer);
  text += block("Run", run_lines(advice)) + block("Observed", proof_words(advice)) + "\n";
  TextStyle style;
  style.in_brackets = !why.empty();
  text +=
      views_text(report, report.views, style) + block("Program", {program_line(advice.program)});
  if (!advice.first_run_cut) text += block("Seen", sentences_of(advice.look, advice.machine));
  text += candidates_text(advice.candidates) + block("Failed", fates(advice));
  return text + block("Warnings", counted(advice.warnings));
}

std::string race_text(const RaceProgress& progress, const RaceResult& so_far,
                      const std::vector<Candidate>& candidates, const Metric& metric) {
  std::string text = fmt::format("{}, round {} of at most {}, {} candidates",
                                 progress.final ? "final" : "screening", progress.round,
                                 progress.rounds, progress.alive);
  std::optional<std::size_t> ahead;
  double least = 0;
  for (std::size_t i = 1; i < so_far.lanes.size(); ++i) {
    const auto& runs = progress.final ? so_far.lanes[i].final : so_far.lanes[i].screening;
    const auto& reference = progress.final ? so_far.lanes[0].final : so_far.lanes[0].screening;
    const auto ratio = log_ratio(runs, reference);
    if (!ratio || ratio->value >= least) continue;
    ahead = i;
    least = ratio->value;
  }
  if (ahead)
    text += fmt::format("; ahead: {}, {} than {}", printable(candidates[*ahead].name),
                        short_gain_text(least, metric), printable(candidates.front().name));
  return text;
}

void RaceLine::show(const RaceProgress& progress, const RaceResult& so_far,
                    const std::vector<Candidate>& candidates, const Metric& metric) {
  if (terminal_) {
    say(fmt::format("\r\033[K{}; now: {}", race_text(progress, so_far, candidates, metric),
                    printable(candidates[progress.candidate].name)));
    shown_ = true;
    return;
  }
  constexpr std::chrono::seconds between_lines{10};
  const auto now = std::chrono::steady_clock::now();
  if (progress.final == final_ && now - last_ < between_lines) return;
  last_ = now;
  final_ = progress.final;
  say(race_text(progress, so_far, candidates, metric) + "\n");
}

void RaceLine::clear() {
  if (shown_) say("\r\033[K");
  shown_ = false;
}

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
    report.cases.push_back(case_of(i, advice));
  report.warnings = advice.warnings;
  report.views = views_of(advice);
  // Of a curve without a point there is nothing to show.
  std::erase_if(report.views, [&](const View& view) {
    return std::ranges::any_of(view.where,
                               [&](const auto& label) { return !has_label(report, label.first); });
  });
  report.facts = facts_of(advice);
  const Trust trust = trust_of({&report, 1});
  report.trust = trust.grade;
  report.doubt = trust.doubt;
  return report;
}

}  // namespace numatlas

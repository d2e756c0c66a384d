#include "compare/runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/statistics.h"

namespace numatlas {
namespace {

constexpr std::size_t enough_runs = 6;  // as base/statistics wants for an interval

/// The root of the sum of squares. Not std::hypot: glibc 2.35 has a new one, and the packages are
/// for 2.34.
double root_of_squares(double one, double other) { return std::sqrt(one * one + other * other); }

/// What both intervals leave open of a change. They are independent: of the logarithms the
/// distances to the ends add up as squares do (Zou and Donner, Statistics in Medicine 27, 2008).
void set_interval(Change& change, const StoredFigure& base, const StoredFigure& now) {
  const Interval &from = *base.interval, &to = *now.interval;
  if (!(from.low > 0) || !(to.low > 0)) {
    change.low = to.low / from.high - 1;
    if (from.low > 0) change.high = to.high / from.low - 1;
    return;
  }
  const double now_value = *now.value, base_value = *base.value, times = now_value / base_value;
  change.low = times * std::exp(-root_of_squares(std::log(now_value / to.low),
                                                 std::log(from.high / base_value))) -
               1;
  change.high = times * std::exp(root_of_squares(std::log(to.high / now_value),
                                                 std::log(base_value / from.low))) -
                1;
}

/// Against what earlier runs make one expect. Faster, slower: the intervals do not overlap, and the
/// change has the least effect. Same: all that both leave open lies within the least effect.
Change change_of(const StoredFigure& base, const StoredFigure& now, const std::string& unit,
                 const CompareRule& rule) {
  Change change = begin_change(base, now, unit);
  if (change.reason.empty()) change.reason = place_difference(base.observed, now.observed);
  if (!change.reason.empty()) return change;
  set_interval(change, base, now);
  const bool apart = !overlap(*base.interval, *now.interval);
  const bool within =
      change.high && *change.low >= -rule.min_effect && *change.high <= rule.min_effect;
  // Apart by less than counts is as good as the same.
  const bool little = apart && std::abs(*change.part) < rule.min_effect;
  change.verdict = within || little ? CaseVerdict::same
                   : apart          ? direction_of(*change.part, unit)
                                    : CaseVerdict::not_distinguishable;
  return change;
}

std::optional<Interval> hull_of(const std::vector<SeriesPoint>& points, std::size_t first,
                                std::size_t end) {
  std::optional<Interval> all;
  for (std::size_t i = first; i < end; ++i)
    all = all ? hull(*all, *points[i].figure.interval) : *points[i].figure.interval;
  return all;
}

double median_between(const std::vector<SeriesPoint>& points, std::size_t first, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = first; i < end; ++i) values.push_back(*points[i].figure.value);
  return summarize(values)->median;
}

/// Whether all runs from `i` on lie apart from all before it by the least effect: also the nearest.
bool lies_apart(const std::vector<SeriesPoint>& points, std::size_t i, double least) {
  const auto value = [&](std::size_t at) { return *points[at].figure.value; };
  for (std::size_t before = 0; before < i; ++before) {
    for (std::size_t after = i; after < points.size(); ++after) {
      if ((value(after) > value(before)) != (value(i) > value(0))) return false;
      if (std::abs(value(after) / value(before) - 1) < least) return false;
    }
  }
  return true;
}

void find_step(CaseSeries& series, const CompareRule& rule) {
  const std::vector<SeriesPoint>& points = series.points;
  double largest = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    StoredFigure before, after;
    before.value = median_between(points, 0, i);
    before.interval = hull_of(points, 0, i);
    after.value = median_between(points, i, points.size());
    after.interval = hull_of(points, i, points.size());
    Change change = change_of(before, after, series.newest.unit, rule);
    const bool counts =
        change.verdict == CaseVerdict::faster || change.verdict == CaseVerdict::slower;
    if (!counts || std::abs(*change.part) <= largest) continue;
    if (!lies_apart(points, i, rule.min_effect)) continue;
    largest = std::abs(*change.part);
    series.step = i;
    series.step_change = std::move(change);
  }
}

/// The figures of one case in runs[first..last]; the last one is the newest.
CaseSeries series_of_case(const std::vector<const StoredRun*>& runs,
                          const std::vector<std::map<std::string, const StoredCase*>>& by_key,
                          const StoredCase& newest, const CompareRule& rule) {
  CaseSeries series;
  series.newest = newest;
  for (std::size_t run = 0; run + 1 < runs.size(); ++run) {
    const auto found = by_key[run].find(newest.key);
    if (found == by_key[run].end()) continue;
    const StoredCase& one = *found->second;
    // Only places and figures are asked here: the change itself is judged against all of them.
    const Change usable = change_of(one.figure, newest.figure, newest.unit, rule);
    if (one.unit == newest.unit && usable.reason.empty())
      series.points.push_back({run, one.figure});
    else
      ++series.left_out;
    if (!usable.reason.empty()) series.change.reason = usable.reason;
  }
  if (series.points.empty()) {
    if (series.change.reason.empty()) series.change.reason = "not in any earlier run";
    return series;
  }
  series.earlier = expected_of(series.points);
  series.change = change_of(series.earlier, newest.figure, newest.unit, rule);
  series.points.push_back({runs.size() - 1, newest.figure});
  find_step(series, rule);
  return series;
}

RunSeries series_of_group(const std::vector<const StoredRun*>& runs, const CompareRule& rule) {
  RunSeries group;
  group.command = runs.back()->command;
  group.hosts = runs.back()->hosts;
  std::vector<std::map<std::string, const StoredCase*>> by_key;
  for (const StoredRun* run : runs) {
    group.runs.push_back({run->file, run->started});
    auto& keys = by_key.emplace_back();
    for (const StoredCase& one : run->cases) keys.emplace(one.key, &one);
  }
  if (runs.size() < 2) return group;
  for (const StoredCase& newest : runs.back()->cases)
    if (wants_in_series(rule, newest))
      group.cases.push_back(series_of_case(runs, by_key, newest, rule));
  return group;
}

/// "2 earlier figures are left out, ...", and the points of the run before that the newest lacks.
void note_gaps(const RunSeries& group, const std::vector<const StoredRun*>& runs,
               const CompareRule& rule, std::vector<std::string>& notes) {
  std::size_t left_out = 0;
  for (const CaseSeries& series : group.cases) left_out += series.left_out;
  if (left_out > 0)
    notes.push_back(
        fmt::format("{}: {} earlier figure{} excluded, as the newest cannot be compared with them",
                    group.command, left_out, left_out == 1 ? " is" : "s are"));
  if (runs.size() < 2) return;
  std::set<std::string> now;
  for (const StoredCase& one : runs.back()->cases)
    if (!one.is_empty_point()) now.insert(one.point);
  std::vector<std::string> gone;
  for (const StoredCase& one : runs[runs.size() - 2]->cases) {
    if (one.is_empty_point() || !wants(rule, one) || !now.insert(one.point).second) continue;
    gone.push_back(one.point);
  }
  if (gone.empty()) return;
  constexpr std::size_t most_named = 5;
  const std::size_t more = gone.size() - std::min(gone.size(), most_named);
  gone.resize(gone.size() - more);
  notes.push_back(fmt::format("{}: the newest run has no figure of {}{}", group.command,
                              fmt::join(gone, ", "),
                              more == 0 ? "" : fmt::format(" and {} more", more)));
}

/// Runs that follow one another: nothing but time is between them.
struct RunKind {
  std::string command;
  std::vector<std::string> hosts;
  std::string engine;
  std::vector<std::string> processors;
  friend auto operator<=>(const RunKind&, const RunKind&) = default;
};

RunKind kind_of_run(const StoredRun& run) {
  RunKind kind{run.command, run.hosts, run.engine, {}};
  for (const Machine& machine : run.machines) kind.processors.push_back(machine.cpu_model);
  return kind;
}

}  // namespace

std::size_t know_launches(StoredFile& side, const std::vector<StoredRun>& others) {
  std::size_t known = 0;
  for (StoredRun& run : side.runs) {
    std::map<std::string, std::vector<const StoredCase*>> by_key;
    for (const StoredRun& other : others) {
      if (other.started == run.started || kind_of_run(other) != kind_of_run(run)) continue;
      for (const StoredCase& one : other.cases) by_key[one.key].push_back(&one);
    }
    for (StoredCase& mine : run.cases) {
      std::vector<double> logarithms;
      for (const StoredCase* one : by_key[mine.key]) {
        const StoredFigure& figure = one->figure;
        const bool usable = figure.problem.empty() && figure.value && *figure.value > 0 &&
                            one->unit == mine.unit &&
                            place_difference(figure.observed, mine.figure.observed).empty();
        if (usable) logarithms.push_back(std::log(*figure.value));
      }
      if (logarithms.size() < enough_runs) continue;
      const auto launches = static_cast<double>(logarithms.size());
      mine.figure.launch_spread =
          LaunchSpread{summarize(logarithms)->stddev.value_or(0), launches - 1};
      ++known;
    }
  }
  return known;
}

StoredFigure expected_of(const std::vector<SeriesPoint>& earlier) {
  std::vector<double> values;
  for (const SeriesPoint& point : earlier) values.push_back(*point.figure.value);
  std::ranges::sort(values);
  StoredFigure expected;
  expected.value = percentile_sorted(values, 50);
  if (values.size() < enough_runs) {
    expected.interval = hull_of(earlier, 0, earlier.size());
    return expected;
  }
  const auto outer = static_cast<std::size_t>(static_cast<double>(values.size()) / 40.0);
  expected.interval = Interval{values[outer], values[values.size() - 1 - outer]};
  return expected;
}

bool wants_in_series(const CompareRule& rule, const StoredCase& one) {
  if (one.is_empty_point()) return false;
  if (one.level == CaseLevel::machine) return rule.metric.empty() || rule.metric == one.metric;
  return wants(rule, one);
}

std::vector<RunSeries> series_of(const std::vector<StoredRun>& runs, const CompareRule& rule,
                                 std::vector<std::string>& notes) {
  std::map<RunKind, std::vector<const StoredRun*>> groups;
  for (const StoredRun& run : runs) groups[kind_of_run(run)].push_back(&run);
  for (auto one = groups.begin(); one != groups.end(); ++one) {
    const auto next = std::next(one);
    if (next != groups.end() && next->first.command == one->first.command &&
        next->first.hosts == one->first.hosts)
      notes.push_back(
          fmt::format("{}: runs of another engine or processor on the same hosts stand apart: {}",
                      one->first.command, next->second.front()->file));
  }
  std::vector<RunSeries> all;
  for (auto& [name, group] : groups) {
    std::ranges::stable_sort(group, {}, &StoredRun::started);
    all.push_back(series_of_group(group, rule));
    all.back().newest = static_cast<std::size_t>(group.back() - runs.data());
    note_gaps(all.back(), group, rule, notes);
  }
  return all;
}

}  // namespace numatlas

#include "compare/match.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace numatlas {
namespace {

std::string metrics_text(const std::vector<StoredCase>& cases) {
  std::set<std::string> names;
  for (const StoredCase& one : cases)
    if (!one.is_empty_point()) names.insert(one.metric);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<const StoredCase*> wanted(const std::vector<StoredCase>& cases,
                                      const CompareRule& rule) {
  std::vector<const StoredCase*> kept;
  for (const StoredCase& one : cases)
    if (wants(rule, one)) kept.push_back(&one);
  return kept;
}

/// `here`: both sides were to be measured at the same place.
Change change_of_case(const StoredCase& base, const StoredCase& now, const CompareRule& rule,
                      bool here) {
  Change change;
  if (base.unit != now.unit && !base.is_empty_point() && !now.is_empty_point()) {
    change.reason = fmt::format("in {}, now in {}", base.unit.symbol(), now.unit.symbol());
    return change;
  }
  change = change_between(base.figure, now.figure, base.unit, rule);
  if (!here || !change.p) return change;
  change.reason = place_difference(base.figure.observed, now.figure.observed);
  if (!change.reason.empty()) change.low = change.high = change.p = std::nullopt;
  return change;
}

void judge_all(std::vector<ComparedCase>& cases, const CompareRule& rule) {
  std::vector<Change*> changes;
  for (ComparedCase& one : cases) changes.push_back(&one.change);
  judge(changes, rule);
}

/// The same pilots of both sides.
std::vector<ComparedCase> match_machine(const std::vector<StoredCase>& base,
                                        const std::vector<StoredCase>& now,
                                        const CompareRule& rule) {
  std::vector<ComparedCase> found;
  for (const StoredCase& one : base) {
    if (one.level != CaseLevel::machine) continue;
    const auto same = std::ranges::find(now, one.key, &StoredCase::key);
    if (same != now.end()) found.push_back({one, *same, change_of_case(one, *same, rule, true)});
  }
  judge_all(found, rule);
  return found;
}

/// No cases where the sides do not have the same metrics in the same order.
Comparison match_in_order(const std::vector<StoredCase>& base, const std::vector<StoredCase>& now,
                          const CompareRule& rule) {
  const auto of_base = wanted(base, rule), of_now = wanted(now, rule);
  Comparison found;
  if (of_base.size() != of_now.size()) return found;
  for (std::size_t i = 0; i < of_base.size(); ++i) {
    if (of_base[i]->metric != of_now[i]->metric || of_base[i]->unit != of_now[i]->unit) return {};
    found.cases.push_back(
        {*of_base[i], *of_now[i], change_of_case(*of_base[i], *of_now[i], rule, false)});
  }
  judge_all(found.cases, rule);
  return found;
}

std::string commands_text(const StoredFile& file) {
  std::set<std::string> names;
  for (const StoredRun& run : file.runs) names.insert(run.command);
  return names.empty() ? "an empty survey" : fmt::format("{}", fmt::join(names, ", "));
}

constexpr std::size_t enough_runs = 6;  // as base/statistics wants for an interval

/// Whether nothing but time is between them.
bool is_same_kind(const StoredRun& a, const StoredRun& b) {
  return a.command == b.command && a.hosts == b.hosts && a.engine == b.engine &&
         std::ranges::equal(a.machines, b.machines, {}, &Machine::cpu_model, &Machine::cpu_model);
}

}  // namespace

std::size_t Comparison::count(CaseVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cases, [&](const ComparedCase& one) { return one.change.verdict == verdict; }));
}

std::vector<StoredCase> cases_of(const StoredFile& file) {
  std::vector<StoredCase> all;
  for (const StoredRun& run : file.runs) all.insert(all.end(), run.cases.begin(), run.cases.end());
  return all;
}

bool wants(const CompareRule& rule, const StoredCase& one) {
  if (one.is_empty_point()) return true;
  if (!rule.metric.empty() && one.metric != rule.metric) return false;
  switch (one.level) {
    case CaseLevel::point:
      return !rule.every_flow || one.part == "all flows" || one.command == "stream";
    case CaseLevel::lone_flow: return true;
    case CaseLevel::flow: return rule.every_flow;
    case CaseLevel::derived: return !rule.metric.empty();
    case CaseLevel::host:
    case CaseLevel::machine: return false;
  }
  return false;
}

Comparison match_cases(const std::vector<StoredCase>& base, const std::vector<StoredCase>& now,
                       const CompareRule& rule) {
  const auto of_base = wanted(base, rule), of_now = wanted(now, rule);
  std::map<std::string, const StoredCase*> by_key, empty_now, empty_base;
  for (const StoredCase* one : of_now) {
    by_key.emplace(one->key, one);
    if (one->is_empty_point()) empty_now.emplace(one->point_key, one);
  }
  Comparison found;
  std::set<const StoredCase*> matched;
  const auto add = [&](const StoredCase& a, const StoredCase& b) {
    matched.insert({&a, &b});
    found.cases.push_back({a, b, change_of_case(a, b, rule, true)});
  };
  for (const StoredCase* one : of_base) {
    const auto same = by_key.find(one->key);
    const auto skipped = empty_now.find(one->point_key);
    if (same != by_key.end())
      add(*one, *same->second);
    else if (skipped != empty_now.end())
      add(*one, *skipped->second);
    else if (one->is_empty_point())
      empty_base.emplace(one->point_key, one);
  }
  for (const StoredCase* one : of_now) {
    if (matched.contains(one)) continue;
    const auto skipped = empty_base.find(one->point_key);
    if (skipped != empty_base.end())
      add(*skipped->second, *one);
    else
      found.only_now.push_back(*one);
  }
  for (const StoredCase* one : of_base)
    if (!matched.contains(one)) found.only_base.push_back(*one);
  judge_all(found.cases, rule);
  return found;
}

bool same_run(const StoredRun& a, const StoredRun& b) {
  return a.started == b.started && a.hosts == b.hosts && a.arguments == b.arguments &&
         std::ranges::equal(a.cases, b.cases, [](const StoredCase& x, const StoredCase& y) {
           return x.key == y.key && x.figure == y.figure;
         });
}

bool same_run(const StoredFile& a, const StoredFile& b) {
  return std::ranges::equal(a.runs, b.runs,
                            [](const StoredRun& x, const StoredRun& y) { return same_run(x, y); });
}

StoredFile merged(const std::vector<StoredFile>& launches) {
  StoredFile all = launches.front();
  if (launches.size() == 1) return all;
  std::vector<std::map<std::string, const StoredFigure*>> by_key;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto& figures = by_key.emplace_back();
    for (const StoredRun& run : launches[i].runs)
      for (const StoredCase& one : run.cases) figures.emplace(one.key, &one.figure);
    if (i == 0) continue;
    all.notes.insert(all.notes.end(), launches[i].notes.begin(), launches[i].notes.end());
    for (std::size_t k = 0; k < std::min(all.runs.size(), launches[i].runs.size()); ++k)
      if (const StoredRun& its = launches[i].runs[k]; its.is_unreliable()) {
        all.runs[k].trust = its.trust;
        all.runs[k].doubt = its.doubt;
      }
  }
  all.file += fmt::format(" and {} more", launches.size() - 1);
  std::set<std::string> missing;
  for (StoredRun& run : all.runs) {
    std::erase_if(run.cases, [&](StoredCase& one) {
      std::vector<StoredFigure> figures;
      for (const auto& file : by_key)
        if (const auto found = file.find(one.key); found != file.end())
          figures.push_back(*found->second);
      if (figures.size() == launches.size()) {
        one.figure = figure_of_launches(figures);
        return false;
      }
      missing.insert(one.point);
      return true;
    });
  }
  if (!missing.empty())
    all.notes.push_back(
        fmt::format("{}: not all of them have {}", all.file, fmt::join(missing, "; ")));
  return all;
}

std::size_t know_launches(StoredFile& side, const std::vector<StoredRun>& others) {
  std::size_t known = 0;
  for (StoredRun& run : side.runs) {
    std::map<std::string, std::vector<const StoredCase*>> by_key;
    for (const StoredRun& other : others) {
      if (other.started == run.started || !is_same_kind(other, run)) continue;
      for (const StoredCase& one : other.cases) by_key[one.key].push_back(&one);
    }
    for (StoredCase& mine : run.cases) {
      std::vector<double> logarithms;
      for (const StoredCase* one : by_key[mine.key]) {
        const StoredFigure& figure = one->figure;
        const bool usable = figure.problem.empty() && figure.estimate &&
                            figure.estimate->value > 0 && one->unit == mine.unit &&
                            place_difference(figure.observed, mine.figure.observed).empty();
        if (usable) logarithms.push_back(std::log(figure.estimate->value));
      }
      if (logarithms.size() < enough_runs) continue;
      mine.figure.launch_spread = mean_of(logarithms);
      mine.figure.launch_spread->variance *= static_cast<double>(logarithms.size());
      ++known;
    }
  }
  return known;
}

Expected<Comparison> compare_files(const StoredFile& base, const StoredFile& now,
                                   const CompareRule& rule, bool in_order) {
  const auto of_base = cases_of(base), of_now = cases_of(now);
  Comparison found = match_cases(of_base, of_now, rule);
  if (found.cases.empty() && in_order) found = match_in_order(of_base, of_now, rule);
  found.machine = match_machine(of_base, of_now, rule);
  if (!found.cases.empty()) return found;
  if (!rule.metric.empty()) {
    CompareRule any = rule;
    any.metric.clear();
    if (!match_cases(of_base, of_now, any).cases.empty())
      return fail_usage("--metric", fmt::format("no case has '{}'", rule.metric),
                        "these have: " + metrics_text(of_base));
  }
  const std::string one = commands_text(base), other = commands_text(now);
  if (one != other)
    return fail(
        ErrorKind::usage,
        fmt::format("{} ({}) and {} ({}) have no case in common", base.file, one, now.file, other),
        "compare two runs of the same command");
  return fail(ErrorKind::usage,
              fmt::format("{} and {} have no figure in common, of {} and {}", base.file, now.file,
                          of_base.size(), of_now.size()),
              "figures are matched by what was asked for: were both run with the same options?");
}

}  // namespace numatlas

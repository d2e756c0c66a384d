#include "compare/match.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/figure.h"

namespace numatlas {
namespace {

constexpr const char* side_names[] = {"BASE", "NEW"};

/// Why one of two figures says nothing, "" where both do.
std::string problem_of(const StoredFigure& base, const StoredFigure& now) {
  if (!base.problem.empty() && base.problem == now.problem) return "both: " + base.problem;
  const StoredFigure* sides[] = {&base, &now};
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->problem.empty()) return fmt::format("{}: {}", side_names[i], sides[i]->problem);
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->value || !sides[i]->interval)
      return fmt::format("{}: its interval is not known", side_names[i]);
  if (!(*base.value > 0)) return "BASE: is 0";
  return place_difference(base.observed, now.observed);
}

/// Which side was disturbed, and by what.
std::string doubt_of(const StoredFigure& base, const StoredFigure& now) {
  std::vector<std::string> parts;
  const StoredFigure* sides[] = {&base, &now};
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->disturbed.empty())
      parts.push_back(fmt::format("{}: {}", side_names[i], sides[i]->disturbed));
  return fmt::format("{}", fmt::join(parts, "; "));
}

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

std::string commands_text(const StoredFile& file) {
  std::set<std::string> names;
  for (const StoredRun& run : file.runs) names.insert(run.command);
  return names.empty() ? "an empty survey" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const char* name_of(CaseVerdict verdict) {
  switch (verdict) {
    case CaseVerdict::faster: return "faster";
    case CaseVerdict::slower: return "slower";
    case CaseVerdict::same: return "same";
    case CaseVerdict::not_comparable: return "not comparable";
  }
  return "not comparable";
}

Change change_of(const StoredFigure& base, const StoredFigure& now, const std::string& unit,
                 const CompareRule& rule) {
  Change change;
  if (base.value && now.value && *base.value > 0) change.part = *now.value / *base.value - 1;
  change.doubt = doubt_of(base, now);
  change.reason = problem_of(base, now);
  if (!change.reason.empty()) return change;
  change.low = now.interval->low / base.interval->high - 1;
  if (base.interval->low > 0) change.high = now.interval->high / base.interval->low - 1;
  if (unit != "s" && unit != "B/s" && unit != "1") {
    change.reason = fmt::format("whether more '{}' is better is not known", unit);
    return change;
  }
  change.verdict = CaseVerdict::same;
  if (overlap(*base.interval, *now.interval) || std::abs(*change.part) < rule.min_effect)
    return change;
  const bool faster = (*change.part < 0) == (better_of(unit) == Better::lower);
  change.verdict = faster ? CaseVerdict::faster : CaseVerdict::slower;
  return change;
}

std::size_t Comparison::count(CaseVerdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(),
                    [&](const ComparedCase& one) { return one.change.verdict == verdict; }));
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
    Change change;
    if (a.unit != b.unit && !a.is_empty_point() && !b.is_empty_point())
      change.reason = fmt::format("in {}, now in {}", a.unit, b.unit);
    else
      change = change_of(a.figure, b.figure, a.unit, rule);
    found.cases.push_back({a, b, std::move(change)});
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
  return found;
}

Expected<Comparison> compare_files(const StoredFile& base, const StoredFile& now,
                                   const CompareRule& rule) {
  const auto of_base = cases_of(base), of_now = cases_of(now);
  Comparison found = match_cases(of_base, of_now, rule);
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
              fmt::format("{} and {} have no case in common, of {} and {}", base.file, now.file,
                          of_base.size(), of_now.size()),
              "cases are matched by what was asked for: were both run with the same options?");
}

}  // namespace numatlas

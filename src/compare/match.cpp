#include "compare/match.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/judge.h"
#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/text.h"

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

std::string hosts_text(const StoredRun& run) {
  return fmt::format("{}", fmt::join(run.hosts, " "));
}

/// Launches of one command as one run. `missing`: cases that not all of them have.
StoredRun merged_run(const std::vector<const StoredRun*>& launches, bool by_host,
                     std::vector<std::string>& missing) {
  StoredRun all = *launches.front();
  std::map<std::string, std::vector<StoredFigure>> figures;
  std::vector<StoredCase> cases;
  for (const StoredRun* run : launches) {
    for (const StoredCase& one : run->cases) {
      auto& its = figures[one.key];
      if (its.empty()) cases.push_back(one);
      its.push_back(one.figure);
    }
    if (run->is_unreliable()) {
      all.trust = run->trust;
      all.doubt = run->doubt;
    }
    if (!run->complete) {
      all.complete = false;
      all.incomplete_reason = run->incomplete_reason;
    }
  }
  for (StoredCase& one : cases) {
    const auto& its = figures[one.key];
    if (its.size() > 1) one.figure = figure_of_launches(its);
    if (its.size() < launches.size()) add_once(missing, one.point);
    if (!by_host) continue;
    one.on = hosts_text(all);
    one.key = one.on + "\n" + one.key;
    one.point_key = one.on + "\n" + one.point_key;
  }
  all.cases = std::move(cases);
  return all;
}

/// What differs from launch to launch of one host is as much as the changes of the hosts differ:
/// where enough of them have a case of one launch each, that is known instead of assumed.
void know_launches_by_hosts(std::vector<StoredCase>& base, std::vector<StoredCase>& now,
                            const CompareRule& rule) {
  std::map<std::string, StoredCase*> of_now;
  for (StoredCase& one : now) of_now.emplace(one.key, &one);
  std::map<std::string, std::vector<std::pair<StoredCase*, StoredCase*>>> questions;
  const auto is_usable = [](const StoredFigure& figure) {
    return figure.problem.empty() && figure.launches.empty() && figure.estimate &&
           figure.estimate->value > 0;
  };
  for (StoredCase& one : base) {
    const auto other = of_now.find(one.key);
    if (one.on.empty() || other == of_now.end() || one.unit != other->second->unit) continue;
    const StoredFigure &mine = one.figure, &its = other->second->figure;
    if (is_usable(mine) && is_usable(its) && place_difference(mine.observed, its.observed).empty())
      questions[one.key.substr(one.on.size())].emplace_back(&one, other->second);
  }
  for (const auto& [question, pairs] : questions) {
    if (pairs.size() < enough_runs) continue;
    std::vector<double> ratios;
    for (const auto& [mine, its] : pairs)
      ratios.push_back(its->figure.estimate->value / mine->figure.estimate->value);
    Uncertain spread = reference_of_peers(ratios, SlowRule{}.least_spread);
    spread.variance /= 2 * spread.value * spread.value;  // of the logarithm, on one side
    // Wider than what is assumed, something changed, and not on all hosts alike. Of virtual
    // machines nothing is assumed.
    const double assumed = rule.launch_spread_taken();
    const bool guests = std::ranges::any_of(pairs, [](const auto& pair) {
      return pair.first->figure.guest || pair.second->figure.guest;
    });
    if (!guests && spread.variance > assumed * assumed) continue;
    for (const auto& [mine, its] : pairs)
      for (StoredCase* one : {mine, its}) {
        one->figure.launch_spread = spread;
        one->figure.relative.reset();  // the pilots know less
      }
  }
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

bool are_paired_by_host(const std::vector<StoredFile>& base, const std::vector<StoredFile>& now) {
  std::set<std::string> hosts[2];
  for (const auto& [side, files] : {std::pair(0, &base), {1, &now}})
    for (const StoredFile& file : *files)
      for (const StoredRun& run : file.runs) hosts[side].insert(hosts_text(run));
  const auto is_there = [&](const std::string& host) { return hosts[1].contains(host); };
  return std::max(hosts[0].size(), hosts[1].size()) > 1 && std::ranges::any_of(hosts[0], is_there);
}

StoredFile merged(const std::vector<StoredFile>& launches, bool by_host) {
  StoredFile all = launches.front();
  if (launches.size() == 1 && !by_host) return all;
  std::vector<std::vector<const StoredRun*>> groups;  // launches of the same
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> index;
  for (const StoredFile& file : launches) {
    std::map<std::pair<std::string, std::string>, std::size_t> seen;  // a survey may ask twice
    for (const StoredRun& run : file.runs) {
      const std::string host = by_host ? hosts_text(run) : "";
      const std::size_t number = seen[{host, run.command}]++;
      const auto [place, is_new] = index.try_emplace({host, run.command, number}, groups.size());
      if (is_new) groups.emplace_back();
      groups[place->second].push_back(&run);
    }
    if (&file != &launches.front())
      all.notes.insert(all.notes.end(), file.notes.begin(), file.notes.end());
  }
  if (launches.size() > 1) all.file += fmt::format(" and {} more", launches.size() - 1);
  std::vector<std::string> missing;
  all.runs.clear();
  for (const auto& group : groups) all.runs.push_back(merged_run(group, by_host, missing));
  if (!missing.empty())
    all.notes.push_back(
        fmt::format("{}: not all of them have {}", all.file, fmt::join(missing, "; ")));
  return all;
}

Expected<Comparison> compare_files(const StoredFile& base, const StoredFile& now,
                                   const CompareRule& rule) {
  auto of_base = cases_of(base), of_now = cases_of(now);
  know_launches_by_hosts(of_base, of_now, rule);
  Comparison found = match_cases(of_base, of_now, rule);
  if (found.cases.empty() && rule.in_pairs) found = match_in_order(of_base, of_now, rule);
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
              "figures are matched by what was asked for; commands that ask for different things "
              "are compared where both are measured in turn (--run)");
}

}  // namespace numatlas

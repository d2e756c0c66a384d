#include "compare/compare.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/judge.h"
#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/text.h"

namespace numatlas {
namespace {

std::vector<const Row*> wanted(const std::vector<Row>& cases, const CompareRule& rule) {
  std::vector<const Row*> kept;
  for (const Row& one : cases)
    if (wants(rule, one)) kept.push_back(&one);
  return kept;
}

/// `here`: both sides were to be measured at the same place.
Change change_of_case(const Row& base, const Row& now, const CompareRule& rule, bool here) {
  Change change;
  if (base.unit != now.unit && !base.is_empty() && !now.is_empty()) {
    change.reason = fmt::format("in {}, now in {}", base.unit.symbol(), now.unit.symbol());
    return change;
  }
  change = change_between(base, now, rule);
  if (!here || !change.p) return change;
  change.reason = place_difference(base.observed, now.observed);
  if (!change.reason.empty()) change.low = change.high = change.p = std::nullopt;
  return change;
}

void judge_all(std::vector<ComparedCase>& cases, const CompareRule& rule) {
  std::vector<Change*> changes;
  for (ComparedCase& one : cases) changes.push_back(&one.change);
  judge(changes, rule);
}

/// The same pilots of both sides.
std::vector<ComparedCase> match_machine(const std::vector<Row>& base, const std::vector<Row>& now,
                                        const CompareRule& rule) {
  std::vector<ComparedCase> found;
  for (const Row& one : base) {
    if (one.level != RowLevel::machine) continue;
    const auto same = std::ranges::find(now, one.key, &Row::key);
    if (same != now.end()) found.push_back({one, *same, change_of_case(one, *same, rule, true)});
  }
  judge_all(found, rule);
  return found;
}

/// No cases where the sides do not have the same metrics in the same order.
Comparison match_in_order(const std::vector<Row>& base, const std::vector<Row>& now,
                          const CompareRule& rule) {
  const auto of_base = wanted(base, rule), of_now = wanted(now, rule);
  Comparison found;
  if (of_base.size() != of_now.size()) return found;
  for (std::size_t i = 0; i < of_base.size(); ++i) {
    if (of_base[i]->figure != of_now[i]->figure || of_base[i]->unit != of_now[i]->unit) return {};
    found.cases.push_back(
        {*of_base[i], *of_now[i], change_of_case(*of_base[i], *of_now[i], rule, false)});
  }
  judge_all(found.cases, rule);
  return found;
}

std::string commands_text(const Results& file) {
  std::set<std::string> names;
  for (const Rows& run : file.runs) names.insert(run.command);
  return names.empty() ? "an empty survey" : fmt::format("{}", fmt::join(names, ", "));
}

constexpr std::size_t enough_runs = 6;  // as base/statistics wants for an interval

std::string hosts_text(const Rows& run) { return fmt::format("{}", fmt::join(run.hosts, " ")); }

/// Launches of one command as one run. `missing`: cases that not all of them have.
Rows merged_run(const std::vector<const Rows*>& launches, bool by_host,
                std::vector<std::string>& missing) {
  Rows all = *launches.front();
  std::map<std::string, std::vector<Row>> by_key;
  std::vector<const std::vector<Row>*> in_order;
  for (const Rows* run : launches) {
    for (const Row& one : run->rows) {
      auto& its = by_key[one.key];
      if (its.empty()) in_order.push_back(&its);
      its.push_back(one);
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
  all.rows.clear();
  for (const std::vector<Row>* its : in_order) {
    Row& one = all.rows.emplace_back(its->size() > 1 ? row_of_launches(*its) : its->front());
    if (its->size() < launches.size()) add_once(missing, one.name);
    if (!by_host) continue;
    one.on = hosts_text(all);
    one.key = one.on + "\n" + one.key;
    one.case_key = one.on + "\n" + one.case_key;
  }
  return all;
}

/// What differs from launch to launch of one host is as much as the changes of the hosts differ:
/// where enough of them have a case of one launch each, that is known instead of assumed.
void know_launches_by_hosts(std::vector<Row>& base, std::vector<Row>& now,
                            const CompareRule& rule) {
  std::map<std::string, Row*> of_now;
  for (Row& one : now) of_now.emplace(one.key, &one);
  std::map<std::string, std::vector<std::pair<Row*, Row*>>> questions;
  const auto is_usable = [](const Row& figure) {
    return figure.problem.empty() && figure.launches.empty() && figure.estimate &&
           figure.estimate->value > 0;
  };
  for (Row& one : base) {
    const auto other = of_now.find(one.key);
    if (one.on.empty() || other == of_now.end() || one.unit != other->second->unit) continue;
    const Row &mine = one, &its = *other->second;
    if (is_usable(mine) && is_usable(its) && place_difference(mine.observed, its.observed).empty())
      questions[one.key.substr(one.on.size())].emplace_back(&one, other->second);
  }
  for (const auto& [question, pairs] : questions) {
    if (pairs.size() < enough_runs) continue;
    std::vector<double> ratios;
    for (const auto& [mine, its] : pairs)
      ratios.push_back(its->estimate->value / mine->estimate->value);
    Uncertain spread = reference_of_peers(ratios, SlowRule{}.least_spread);
    spread.variance /= 2 * spread.value * spread.value;  // of the logarithm, on one side
    // Wider than what is assumed, something changed, and not on all hosts alike. Of virtual
    // machines nothing is assumed.
    const double assumed = rule.launch_spread_taken();
    const bool guests = std::ranges::any_of(
        pairs, [](const auto& pair) { return pair.first->guest || pair.second->guest; });
    if (!guests && spread.variance > assumed * assumed) continue;
    for (const auto& [mine, its] : pairs)
      for (Row* one : {mine, its}) {
        one->launch_spread = spread;
        one->relative.reset();  // the pilots know less
      }
  }
}

}  // namespace

std::size_t Comparison::count(CaseVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cases, [&](const ComparedCase& one) { return one.change.verdict == verdict; }));
}

std::vector<Row> rows_of(const Results& file) {
  std::vector<Row> all;
  for (const Rows& run : file.runs) all.insert(all.end(), run.rows.begin(), run.rows.end());
  return all;
}

bool wants(const CompareRule& rule, const Row& one) {
  if (one.is_empty()) return true;
  if (!rule.metric.empty() && one.figure != rule.metric) return false;
  switch (one.level) {
    case RowLevel::whole:
      return !rule.every_flow || one.of == "all flows" || one.command == "stream";
    case RowLevel::lone_flow: return true;
    case RowLevel::flow: return rule.every_flow;
    case RowLevel::derived: return !rule.metric.empty();
    case RowLevel::host:
    case RowLevel::machine: return false;
  }
  return false;
}

Comparison match_cases(const std::vector<Row>& base, const std::vector<Row>& now,
                       const CompareRule& rule) {
  const auto of_base = wanted(base, rule), of_now = wanted(now, rule);
  std::map<std::string, const Row*> by_key, empty_now, empty_base;
  for (const Row* one : of_now) {
    by_key.emplace(one->key, one);
    if (one->is_empty()) empty_now.emplace(one->case_key, one);
  }
  Comparison found;
  std::set<const Row*> matched;
  const auto add = [&](const Row& a, const Row& b) {
    matched.insert({&a, &b});
    found.cases.push_back({a, b, change_of_case(a, b, rule, true)});
  };
  for (const Row* one : of_base) {
    const auto same = by_key.find(one->key);
    const auto skipped = empty_now.find(one->case_key);
    if (same != by_key.end())
      add(*one, *same->second);
    else if (skipped != empty_now.end())
      add(*one, *skipped->second);
    else if (one->is_empty())
      empty_base.emplace(one->case_key, one);
  }
  for (const Row* one : of_now) {
    if (matched.contains(one)) continue;
    const auto skipped = empty_base.find(one->case_key);
    if (skipped != empty_base.end())
      add(*skipped->second, *one);
    else
      found.only_now.push_back(*one);
  }
  for (const Row* one : of_base)
    if (!matched.contains(one)) found.only_base.push_back(*one);
  judge_all(found.cases, rule);
  return found;
}

bool are_paired_by_host(const std::vector<Results>& base, const std::vector<Results>& now) {
  std::set<std::string> hosts[2];
  for (const auto& [side, files] : {std::pair(0, &base), {1, &now}})
    for (const Results& file : *files)
      for (const Rows& run : file.runs) hosts[side].insert(hosts_text(run));
  const auto is_there = [&](const std::string& host) { return hosts[1].contains(host); };
  return std::max(hosts[0].size(), hosts[1].size()) > 1 && std::ranges::any_of(hosts[0], is_there);
}

Results merged(const std::vector<Results>& launches, bool by_host) {
  Results all = launches.front();
  if (launches.size() == 1 && !by_host) return all;
  std::vector<std::vector<const Rows*>> groups;  // launches of the same
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> index;
  for (const Results& file : launches) {
    std::map<std::pair<std::string, std::string>, std::size_t> seen;  // a survey may ask twice
    for (const Rows& run : file.runs) {
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

Expected<Comparison> compare_files(const Results& base, const Results& now,
                                   const CompareRule& rule) {
  TRY(check_metric(rule.metric, {&base.runs, &now.runs}));
  auto of_base = rows_of(base), of_now = rows_of(now);
  know_launches_by_hosts(of_base, of_now, rule);
  Comparison found = match_cases(of_base, of_now, rule);
  if (found.cases.empty() && rule.in_pairs) found = match_in_order(of_base, of_now, rule);
  found.machine = match_machine(of_base, of_now, rule);
  if (!found.cases.empty()) return found;
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

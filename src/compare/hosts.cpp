#include "compare/hosts.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fleet/fleet.h"
#include "fleet/slow_nodes.h"
#include "record/figure.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

/// One host with its newest run of a command.
struct Host {
  RunSeries* group;
  const StoredRun* run;
};

/// Hosts that can be compared.
struct Kind {
  std::string engine;
  HostKind hardware;
  std::vector<Host> hosts;
};

/// A case of one host.
struct Entry {
  Host host;
  std::size_t index;     ///< into the cases of its run
  double rate, highest;  ///< more is better; the end of its interval that speaks for it
};

/// The same case of several hosts that is far below the others on one of them.
struct Suspect {
  Host host;
  SlowCase slow;
};

bool is_time(const StoredCase& one) { return better_of(one.unit) == Better::lower; }

/// nullopt where the figure says nothing.
std::optional<Entry> entry_of(const Host& host, std::size_t index) {
  const StoredCase& one = host.run->cases[index];
  const StoredFigure& figure = one.figure;
  if (!begin_change(figure, figure, one.unit).reason.empty() || !(*figure.value > 0))
    return std::nullopt;
  if (!is_time(one)) return Entry{host, index, *figure.value, figure.interval->high};
  if (!(figure.interval->low > 0)) return std::nullopt;
  return Entry{host, index, 1 / *figure.value, 1 / figure.interval->low};
}

/// Compares one case over its hosts; `chances` gets one for each.
void judge_case(const std::vector<Entry>& entries, const SlowRule& rule,
                std::vector<double>& chances, std::vector<std::optional<Suspect>>& suspects) {
  std::vector<double> rates;
  for (const Entry& entry : entries) rates.push_back(entry.rate);
  const Peers peers = peers_of(rates, rule);
  for (const Entry& entry : entries) {
    HostVerdict& verdict = entry.host.group->verdict;
    ++verdict.compared;
    verdict.peers = std::max(verdict.peers, peers.count);
    chances.push_back(chance_of((peers.median - entry.rate) / peers.spread, peers));
    auto& suspect = suspects.emplace_back();
    const auto slow = compare(entry.rate, peers, {}, rule);
    if (!slow || entry.highest >= peers.median) continue;
    const StoredCase& one = entry.host.run->cases[entry.index];
    const double median = is_time(one) ? 1 / peers.median : peers.median;
    suspect = Suspect{
        entry.host,
        {entry.index, median, *one.figure.value / median - 1, slow->drop, slow->mads, peers.count}};
  }
}

void judge_kind(const Kind& kind, const CompareRule& rule, const SlowRule& slow) {
  std::map<std::string, std::vector<Entry>> by_key;
  for (const Host& host : kind.hosts)
    for (std::size_t i = 0; i < host.run->cases.size(); ++i)
      if (wants_in_series(rule, host.run->cases[i]))
        if (const auto entry = entry_of(host, i)) by_key[host.run->cases[i].key].push_back(*entry);
  std::vector<double> chances;
  std::vector<std::optional<Suspect>> suspects;
  for (const auto& [key, entries] : by_key)
    if (entries.size() >= slow.least_hosts) judge_case(entries, slow, chances, suspects);
  const std::vector<bool> stands = standing(chances, slow.false_share);
  for (std::size_t i = 0; i < suspects.size(); ++i)
    if (suspects[i] && stands[i])
      suspects[i]->host.group->verdict.slow.push_back(suspects[i]->slow);
  for (const Host& host : kind.hosts)
    std::ranges::stable_sort(host.group->verdict.slow, std::greater<>(), &SlowCase::drop);
}

/// Why no case of a host was compared with others.
std::string lonely_text(const Kind& kind, const SlowRule& slow) {
  const std::string hardware = hardware_text(kind.hardware);
  if (kind.hosts.size() < slow.least_hosts)
    return fmt::format("only {} of this kind ({}); at least {} are required", kind.hosts.size(),
                       hardware, slow.least_hosts);
  return fmt::format("fewer than {} of this kind ({}) measured the same cases", slow.least_hosts,
                     hardware);
}

std::string past_text(const RunSeries& group) {
  if (group.runs.size() < 2) return "no earlier run";
  const bool undecided = std::ranges::any_of(group.cases, [](const CaseSeries& one) {
    return one.change.verdict == CaseVerdict::not_distinguishable;
  });
  return undecided
             ? "no case that can be told from the earlier runs: they scatter by more than the "
               "least effect (--min-effect)"
             : "no case that can be compared with an earlier run";
}

void judge_past(RunSeries& group) {
  for (const CaseSeries& one : group.cases) {
    if (!one.change.reason.empty() || one.change.verdict == CaseVerdict::not_distinguishable)
      continue;
    ++group.verdict.with_past;
    group.verdict.slower_than_past += one.change.verdict == CaseVerdict::slower ? 1 : 0;
  }
}

/// Which groups of a host have newer runs in another group: of another processor or engine.
void find_replaced(std::vector<RunSeries>& groups) {
  std::map<std::pair<std::string, std::string>, RunSeries*> newest;
  for (RunSeries& group : groups) {
    RunSeries*& kept = newest[{group.command, hosts_text(group)}];
    if (kept == nullptr) {
      kept = &group;
      continue;
    }
    const bool newer = kept->runs.back().started <= group.runs.back().started;
    (newer ? *kept : group).verdict.replaced = true;
    if (newer) kept = &group;
  }
}

HostKind hardware_of(const StoredRun& run) {
  return run.machines.empty() ? HostKind{} : kind_of(run.machines.front(), 0, 0);
}

/// Single hosts, by command and kind.
std::vector<Kind> kinds_of(std::vector<RunSeries>& groups, const std::vector<StoredRun>& runs) {
  std::map<std::string, std::vector<Kind>> by_command;
  for (RunSeries& group : groups) {
    if (group.verdict.replaced || group.hosts.size() != 1) continue;
    const StoredRun& run = runs[group.newest];
    const HostKind hardware = hardware_of(run);
    std::vector<Kind>& kinds = by_command[group.command];
    auto kind = std::ranges::find_if(kinds, [&](const Kind& one) {
      return one.engine == run.engine && alike(one.hardware, hardware);
    });
    if (kind == kinds.end()) kind = kinds.insert(kind, {run.engine, hardware, {}});
    kind->hosts.push_back({&group, &run});
  }
  std::vector<Kind> all;
  for (auto& [command, kinds] : by_command)
    for (Kind& kind : kinds) all.push_back(std::move(kind));
  return all;
}

}  // namespace

std::string hosts_text(const RunSeries& group) {
  return fmt::format("{}", fmt::join(group.hosts, " "));
}

void judge_hosts(std::vector<RunSeries>& groups, const std::vector<StoredRun>& runs,
                 const CompareRule& rule, const SlowRule& slow) {
  for (RunSeries& group : groups) judge_past(group);
  find_replaced(groups);
  for (const Kind& kind : kinds_of(groups, runs)) {
    judge_kind(kind, rule, slow);
    for (const Host& host : kind.hosts) {
      HostVerdict& verdict = host.group->verdict;
      if (verdict.compared == 0 && verdict.with_past == 0)
        verdict.not_judged = lonely_text(kind, slow) + ", and " + past_text(*host.group);
    }
  }
  for (RunSeries& group : groups)
    if (group.hosts.size() != 1 && !group.verdict.replaced && group.verdict.with_past == 0)
      group.verdict.not_judged = past_text(group);
}

std::vector<std::string> hosts_with_old_runs(const std::vector<RunSeries>& groups) {
  constexpr std::int64_t day = 24 * 60 * 60;
  const auto began = [](const RunSeries& group) { return unix_seconds(group.runs.back().started); };
  std::map<std::string, std::optional<std::int64_t>> newest;
  for (const RunSeries& group : groups)
    if (group.verdict.compared > 0)
      newest[group.command] = std::max(newest[group.command], began(group));
  std::vector<std::string> old;
  for (const RunSeries& group : groups) {
    if (group.verdict.compared == 0 || !began(group)) continue;
    if (*newest[group.command] - *began(group) > day)
      old.push_back(fmt::format("{} on {} ({})", group.command, hosts_text(group),
                                group.runs.back().started));
  }
  return old;
}

HostCounts count_hosts(const std::vector<RunSeries>& groups) {
  HostCounts counts;
  for (const RunSeries& group : groups) {
    if (group.verdict.replaced) continue;
    if (!group.verdict.not_judged.empty())
      ++counts.not_judged;
    else
      ++(group.verdict.is_slow() ? counts.slow : counts.judged);
  }
  counts.judged += counts.slow;
  return counts;
}

}  // namespace numatlas

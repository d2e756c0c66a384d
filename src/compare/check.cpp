#include "compare/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/host_kind.h"
#include "analysis/judge.h"
#include "analysis/peers.h"
#include "analysis/sides.h"
#include "base/add_once.h"
#include "base/text.h"
#include "compare/check_parts.h"
#include "record/figure.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

bool is_time(const StoredCase& one) { return one.unit.better() == Better::lower; }

const std::string& key_of(const StoredCase& one) { return one.host ? one.host_key : one.key; }

/// One host in one run of a command, or in its newest runs.
struct HostRun {
  const StoredRun* run = nullptr;
  std::size_t host = 0;
  /// That can be judged, each with the run that it is of.
  std::vector<std::pair<const StoredCase*, const StoredRun*>> cases;

  const std::string& name() const { return run->hosts[host]; }
  HostKind kind() const { return host < run->kinds.size() ? run->kinds[host] : HostKind{}; }
};

/// As a rate; nullopt where the figure says nothing.
std::optional<PeerRate> rate_of(const StoredCase& one) {
  const StoredFigure& figure = one.figure;
  if (!figure.estimate || !(figure.estimate->value > 0)) return std::nullopt;
  const Estimate& its = *figure.estimate;
  if (one.level == CaseLevel::point && one.host)  // of rounds: they say how sure it is
    return PeerRate{its.value, std::nullopt, figure.rounds};
  if (!begin_change(figure, figure, one.unit).reason.empty()) return std::nullopt;
  if (!is_time(one)) return PeerRate{its.value, its.high, {}};
  if (!(*its.low > 0)) return std::nullopt;
  return PeerRate{1 / its.value, 1 / *its.low, {}};
}

bool is_wanted(const StoredCase& one, const StoredRun& run, const std::string& metric) {
  if (one.is_empty_point() || (!metric.empty() && one.metric != metric)) return false;
  if (!one.host && run.hosts.size() != 1) return false;
  if (one.level == CaseLevel::flow || (one.level == CaseLevel::derived && metric.empty()))
    return false;
  return rate_of(one).has_value();
}

std::vector<HostRun> hosts_of(const StoredRun& run, const std::string& metric) {
  std::vector<HostRun> hosts;
  for (std::size_t host = 0; host < run.hosts.size(); ++host) hosts.push_back({&run, host, {}});
  // What its flows tell stands in these: not the latency of a chase in the sum of rates beside it.
  std::set<std::pair<std::string, bool>> with_totals;
  for (const StoredCase& one : run.cases)
    if (one.level == CaseLevel::point && !one.host)
      with_totals.emplace(one.point_key, is_time(one));
  for (const StoredCase& one : run.cases) {
    const std::size_t host = one.host.value_or(0);
    const bool again =
        one.level == CaseLevel::lone_flow && with_totals.contains({one.point_key, is_time(one)});
    if (host < hosts.size() && !again && is_wanted(one, run, metric))
      hosts[host].cases.emplace_back(&one, &run);
  }
  return hosts;
}

/// Hosts as peers, with the case that each index of the input is.
struct PeerTable {
  PeerInput input;
  std::vector<HostRun> hosts;
  std::vector<std::vector<const StoredCase*>> cases;  ///< by case, then host; nullptr: it has none
};

PeerTable table_of(std::vector<HostRun> hosts) {
  PeerTable table;
  PeerInput& input = table.input;
  std::vector<HostKind> kinds;
  std::map<const StoredRun*, std::size_t> runs;
  table.hosts = std::move(hosts);
  for (const HostRun& host : table.hosts) {
    const auto known =
        std::ranges::find_if(kinds, [&](const HostKind& kind) { return alike(kind, host.kind()); });
    input.kinds.push_back(static_cast<std::size_t>(known - kinds.begin()));
    if (known == kinds.end()) kinds.push_back(host.kind());
    input.hosts.push_back(host.name());
  }
  for (const HostKind& kind : kinds)
    input.kind_texts.push_back(kind.processes > 0 ? to_text(kind) : hardware_text(kind));
  std::unordered_map<std::string, std::size_t> index;
  bool again = false;
  for (std::size_t host = 0; host < table.hosts.size(); ++host) {
    for (const auto& [one, run] : table.hosts[host].cases) {
      const auto [place, is_new] = index.try_emplace(key_of(*one), index.size());
      if (is_new) {
        input.cases.push_back(one->point);
        input.rates.emplace_back(table.hosts.size());
        input.again.emplace_back(table.hosts.size());
        table.cases.emplace_back(table.hosts.size(), nullptr);
      }
      PeerRate rate = *rate_of(*one);
      rate.run = runs.try_emplace(run, runs.size() + 1).first->second;
      input.rates[place->second][host] = std::move(rate);
      input.again[place->second][host] = one->figure.again;
      table.cases[place->second][host] = one;
      again = again || one->figure.again;
    }
  }
  if (!again) input.again.clear();
  return table;
}

Finding finding_of(const char* verdict, const StoredCase& one, const SlowKernel& found) {
  Finding finding = finding_of(found, one.point, one.metric, one.unit);
  finding.verdict = verdict;
  finding.command = one.command;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) finding.evidence += (finding.evidence.empty() ? "" : "; ") + text;
  };
  // Of a case whose workers are on several nodes there is one for each.
  if (one.is_median) add(one.part);
  add(one.figure.disturbed);
  return finding;
}

/// Judges the runs of one command.
class CommandCheck {
 public:
  /// `runs` by their starts.
  CommandCheck(const std::vector<const StoredRun*>& runs, const CheckRule& rule,
               std::map<std::string, CheckedHost>& hosts)
      : rule_(rule), hosts_(hosts) {
    for (const StoredRun* run : runs) {
      std::map<std::string, int> same_name;  // containers of one host
      for (HostRun& host : hosts_of(*run, rule.metric)) {
        const std::string name = host.name();
        runs_[{name, same_name[name]++}].push_back(std::move(host));
      }
    }
  }

  void judge() {
    std::size_t oldest = 0;
    for (const auto& [host, runs] : runs_) oldest = std::max(oldest, runs.size());
    for (std::size_t age = oldest; age-- > 0;) judge_peers_of(age);
    judge_fleet();
  }

  const std::optional<TwoGroups>& groups() const { return groups_; }
  std::string command() const { return name_in_survey(*runs_.begin()->second.back().run); }

  /// Hosts of other commands that have no result of this one, though enough have to be compared.
  std::vector<std::string> missing_hosts() const {
    std::set<std::string> here;
    for (const auto& [host, runs] : runs_) here.insert(host.first);
    std::vector<std::string> missing;
    if (here.size() < rule_.slow.least_hosts) return missing;
    for (const auto& [name, host] : hosts_)
      if (!here.contains(name)) missing.push_back(name);
    return missing;
  }

  /// Hosts that other commands judge, whose run of this one is more than a day older than the
  /// newest, with its day: something may keep them from measuring.
  std::vector<std::string> old_hosts() const {
    std::optional<std::int64_t> last;
    for (const auto& [host, runs] : runs_)
      last = std::max(last, unix_seconds(runs.back().run->started));
    std::vector<std::string> old;
    for (const auto& [host, runs] : runs_) {
      const std::string& started = runs.back().run->started;
      const auto seconds = unix_seconds(started);
      if (seconds && *last - *seconds > seconds_per_day && hosts_.at(host.first).judged)
        old.push_back(fmt::format("{} ({})", host.first, day_of(started)));
    }
    return old;
  }

  /// The newest run of each host.
  std::vector<const StoredRun*> newest() const {
    std::vector<const StoredRun*> all;
    for (const auto& [host, runs] : runs_) add_once(all, runs.back().run);
    return all;
  }

 private:
  using Runs = std::vector<HostRun>;  ///< of one host, by their starts

  CheckedHost& entry(const std::string& name) {
    CheckedHost& host = hosts_[name];
    host.name = name;
    return host;
  }

  /// The cases of the newest run, and those that only another run of the day before it has: a run
  /// with other options hides nothing.
  static HostRun newest_of(const Runs& runs) {
    HostRun newest = runs.back();
    std::set<std::string> known;
    for (const auto& [one, run] : newest.cases) known.insert(key_of(*one));
    const auto last = unix_seconds(newest.run->started);
    for (std::size_t i = runs.size() - 1; i-- > 0;) {
      const auto started = unix_seconds(runs[i].run->started);
      if (!last || !started || *last - *started >= seconds_per_day) break;
      for (const auto& one : runs[i].cases)
        if (known.insert(key_of(*one.first)).second) newest.cases.push_back(one);
    }
    return newest;
  }

  void judge_peers_of(std::size_t age) {
    std::vector<HostRun> of_age;
    std::vector<const Runs*> all;
    for (const auto& [host, runs] : runs_) {
      if (runs.size() <= age) continue;
      of_age.push_back(age == 0 ? newest_of(runs) : runs[runs.size() - 1 - age]);
      all.push_back(&runs);
    }
    const PeerTable table = table_of(std::move(of_age));
    const SlowReport report = judge_peers(table.input, rule_.slow);
    if (age == 0) groups_ = report.groups;
    std::map<std::size_t, const SlowHost*> found;
    for (const SlowHost& one : report.hosts) found.emplace(one.host, &one);
    const auto reasons = unjudged_hosts(table.input, rule_.slow);
    for (std::size_t i = 0; i < table.hosts.size(); ++i) {
      const HostRun& run = table.hosts[i];
      CheckedHost& host = entry(run.name());
      const auto mine = found.find(i);
      const bool acquitted = mine != found.end() && mine->second->verdict == Verdict::not_confirmed;
      const bool is_slow = mine != found.end() && !acquitted;
      const auto reason = reasons.find(i);
      if (reason == reasons.end()) {
        ++host.runs;
        host.slow_runs += is_slow ? 1 : 0;
      }
      if (age > 0) continue;
      host.newest = std::max(host.newest, run.run->started);
      if (run.run->is_unreliable()) host.distrust = run.run->doubt;
      if (!run.run->complete) host.incomplete = run.run->why_incomplete();
      if (is_slow) add_slow(host, table, *mine->second);
      const std::string no_past = judge_past_of(host, run, *all[i], acquitted);
      if (reason == reasons.end() || no_past.empty())
        host.judged = true;
      else
        add_once(host.unjudged, Unjudged{run.run->command, reason->second + ", and " + no_past});
    }
  }

  static void add_slow(CheckedHost& host, const PeerTable& table, const SlowHost& found) {
    for (Finding& finding :
         findings_of(found, table.hosts[found.host].run->command, [&](const SlowKernel& one) {
           return finding_of(Finding::slow, *table.cases[one.kernel][found.host], one);
         }))
      host.findings.push_back(std::move(finding));
  }

  /// Earlier runs of the host that did the same as the newest.
  static std::vector<const HostRun*> past_of(const HostRun& newest, const Runs& runs) {
    std::vector<const HostRun*> past;
    for (const HostRun& one : runs) {
      const HostKind then = one.kind(), now = newest.kind();
      if (one.run != newest.run && then.cpu_model == now.cpu_model &&
          then.processes == now.processes && then.workers == now.workers)
        past.push_back(&one);
    }
    return past;
  }

  /// Why no case has enough of it; "" where one has. `acquitted`: a second run was as others are.
  std::string judge_past_of(CheckedHost& host, const HostRun& newest, const Runs& runs,
                            bool acquitted) {
    const std::vector<const HostRun*> past = past_of(newest, runs);
    std::vector<std::unordered_map<std::string, const StoredCase*>> by_key;
    for (const HostRun* then : past) {
      auto& keys = by_key.emplace_back();
      for (const auto& [one, run] : then->cases) keys.emplace(key_of(*one), one);
    }
    std::vector<PastCase> cases;
    std::vector<std::vector<std::string>> starts(newest.cases.size());
    bool enough = false;
    for (const auto& [one, run] : newest.cases) {
      PastCase& mine = cases.emplace_back(PastCase{*rate_of(*one), {}});
      for (std::size_t i = 0; i < past.size(); ++i) {
        const auto found = by_key[i].find(key_of(*one));
        if (past[i]->run == run || found == by_key[i].end()) continue;
        const StoredCase& its = *found->second;
        if (its.unit != one->unit || past[i]->run->started > run->started) continue;
        if (!place_difference(its.figure.observed, one->figure.observed).empty()) continue;
        mine.earlier.push_back(rate_of(its)->rate);
        starts[cases.size() - 1].push_back(past[i]->run->started);
      }
      enough = enough || mine.earlier.size() >= rule_.slow.least_hosts;
    }
    if (acquitted) cases.clear();
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (!cases[i].earlier.empty() && cases[i].earlier.size() < rule_.slow.least_hosts)
        short_pasts_[key_of(*newest.cases[i].first)].push_back(
            {host.name, newest.cases[i].first, cases[i].newest.rate, median_of(cases[i].earlier),
             newest.cases[i].second->started});
    for (const Fall& fall : judge_past(cases, rule_.slow)) {
      const std::size_t index = fall.drop.kernel;
      Finding finding = finding_of(Finding::fell, *newest.cases[index].first, fall.drop);
      finding.against = count_text(fall.runs, "earlier run");
      finding.since =
          fall.since < starts[index].size() ? starts[index][fall.since] : newest.run->started;
      const HostKind before = past.back()->kind();
      if (!alike(before, newest.kind()))
        finding.evidence +=
            fmt::format("{}changed since the run before from {}",
                        finding.evidence.empty() ? "" : "; ", hardware_text(before));
      add_fall(host, std::move(finding));
    }
    if (enough) return "";
    return past.empty() ? "no earlier run"
                        : fmt::format("fewer than {} earlier runs that it can be compared with",
                                      rule_.slow.least_hosts);
  }

  /// Hosts whose own pasts are too short to judge them have one together: a fleet that fell from
  /// one night to the next.
  void judge_fleet() {
    std::vector<double> chances;
    std::vector<const std::vector<ShortPast>*> suspects;
    for (const auto& [key, pasts] : short_pasts_) {
      if (pasts.size() < rule_.slow.least_hosts) continue;
      std::vector<double> changes;
      std::size_t fell = 0;
      for (const ShortPast& one : pasts) {
        changes.push_back(std::log(one.newest / one.before));
        fell += one.newest < one.before * (1 - rule_.slow.drop) ? 1 : 0;
      }
      if (!is_most(fell, pasts.size())) continue;
      Uncertain change = mean_of(changes);
      const double least = rule_.slow.least_spread;
      change.variance = std::max(change.variance, least * least);
      chances.push_back(chance_below(change));
      suspects.push_back(&pasts);
    }
    const auto stand = standing(chances, Procedure::benjamini_hochberg, rule_.slow.false_share);
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      if (!stand[i]) continue;
      for (const ShortPast& one : *suspects[i]) {
        const double drop = 1 - one.newest / one.before;
        if (!(drop > rule_.slow.drop)) continue;
        SlowKernel slow;
        slow.rate = one.newest;
        slow.median = one.before;
        slow.drop = drop;
        Finding finding = finding_of(Finding::fell, *one.of, slow);
        finding.mads.reset();
        finding.against = fmt::format("its last run, as {} hosts", suspects[i]->size());
        finding.since = one.started;
        add_fall(hosts_[one.host], std::move(finding));
      }
    }
  }

  /// What is slow among peers as well is one finding.
  static void add_fall(CheckedHost& host, Finding finding) {
    for (Finding& one : host.findings) {
      if (one.verdict != Finding::slow || one.command != finding.command ||
          one.name != finding.name || one.metric != finding.metric)
        continue;
      one.since = finding.since;
      one.evidence += fmt::format("{}{} against {}", one.evidence.empty() ? "" : "; ",
                                  change_text(finding.change), finding.against);
      return;
    }
    host.findings.push_back(std::move(finding));
  }

  /// A case of a host that has few earlier runs, as rates.
  struct ShortPast {
    std::string host;
    const StoredCase* of = nullptr;
    double newest = 0, before = 0;
    std::string started;
  };

  std::map<std::pair<std::string, int>, Runs> runs_;           ///< by host
  std::map<std::string, std::vector<ShortPast>> short_pasts_;  ///< by case
  std::optional<TwoGroups> groups_;
  const CheckRule& rule_;
  std::map<std::string, CheckedHost>& hosts_;
};

/// Notes of hosts that several commands name, one for all commands that name the same hosts.
template <class HostsOf>
void note_hosts(const std::vector<CommandCheck>& checks, HostsOf hosts_of, const char* what,
                std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> commands;
  for (const CommandCheck& check : checks)
    if (const std::vector<std::string> hosts = (check.*hosts_of)(); !hosts.empty())
      commands[names_text(hosts)].push_back(check.command());
  for (const auto& [hosts, names] : commands)
    notes.push_back(fmt::format("{}: {} {}", hosts, what, names_text(names)));
}

}  // namespace

bool CheckedHost::has(const char* verdict) const {
  return std::ranges::any_of(findings, [&](const Finding& one) { return one.verdict == verdict; });
}

std::size_t Checked::count(const char* verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(hosts, [&](const CheckedHost& host) { return host.has(verdict); }));
}

std::size_t Checked::not_judged() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(hosts, [](const CheckedHost& host) { return !host.judged; }));
}

Expected<Checked> check_runs(const std::vector<StoredRun>& runs, const CheckRule& rule,
                             const std::vector<OpenHost>& open) {
  Checked checked;
  checked.rule = rule;
  std::map<std::pair<std::string, bool>, std::vector<const StoredRun*>> commands;
  for (const StoredRun& run : runs)
    commands[{name_in_survey(run), is_null_engine(run.engine)}].push_back(&run);
  std::map<std::string, CheckedHost> hosts;
  std::vector<const StoredRun*> newest;
  std::vector<CommandCheck> checks;
  for (auto& [command, of_command] : commands) {
    std::ranges::stable_sort(of_command, {}, &StoredRun::started);
    CommandCheck& check = checks.emplace_back(of_command, rule, hosts);
    check.judge();
    const auto its = check.newest();
    newest.insert(newest.end(), its.begin(), its.end());
  }
  for (const CommandCheck& check : checks)
    if (check.groups() && (!checked.groups || check.groups()->apart > checked.groups->apart))
      checked.groups = check.groups();
  for (auto& [name, host] : hosts)  // what is expected judges a host by itself
    if (!rule.expected.empty()) host.unjudged.clear();
  for (const Expectation& expected : rule.expected) TRY(judge_expected(expected, newest, hosts));
  if (!rule.expected.empty())
    for (auto& [name, host] : hosts) host.judged = host.unjudged.empty();
  const auto known = rule.metric.empty() ? judge_known(newest, hosts) : std::vector<std::string>{};
  if (!known.empty())
    checked.notes.push_back("reads of all CPUs held against what is known of such machines: " +
                            names_text(known));
  mark_old(rule, hosts);
  note_hosts(checks, &CommandCheck::old_hosts,
             "results more than a day older than the newest:", checked.notes);
  note_hosts(checks, &CommandCheck::missing_hosts, "no result of", checked.notes);
  add_open(open, hosts);
  for (auto& [name, host] : hosts) {
    std::ranges::stable_sort(host.findings, std::greater<>(),
                             [](const Finding& one) { return std::abs(one.change); });
    checked.hosts.push_back(std::move(host));
  }
  if (!rule.metric.empty() && !runs.empty()) {
    std::vector<std::string> metrics;
    for (const StoredRun& run : runs)
      for (const StoredCase& one : run.cases)
        if (!one.metric.empty()) add_once(metrics, one.metric);
    if (std::ranges::find(metrics, rule.metric) == metrics.end())
      return fail_usage("--metric", fmt::format("no case has '{}'", rule.metric),
                        fmt::format("these have: {}", fmt::join(metrics, ", ")));
  }
  if (!newest.empty())
    checked.engine = (*std::ranges::max_element(newest, {}, &StoredRun::started))->engine;
  return checked;
}

}  // namespace numatlas

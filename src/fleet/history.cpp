#include "fleet/history.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fleet/merged.h"
#include "fleet/summary.h"

namespace numatlas {
namespace {

/// One host in one run.
struct PastHost {
  const PastRun* run;
  const PastRun::Host* host;
};

bool same_load(const HostKind& a, const HostKind& b) {
  return a.processes == b.processes && a.workers == b.workers;
}

/// Its figure of a kernel, where that run did the same there.
std::optional<double> figure_of(const PastHost& past, const FleetKernel& kernel,
                                const HostKind& kind, bool by_rounds) {
  if (past.host->by_rounds != by_rounds) return std::nullopt;
  if (!same_load(past.run->kinds[past.host->kind], kind)) return std::nullopt;
  const auto& kernels = past.run->kernels;
  const auto same = std::ranges::find(kernels, kernel);
  if (same == kernels.end()) return std::nullopt;
  return past.host->rates[static_cast<std::size_t>(same - kernels.begin())];
}

std::string change_text(const HostKind& before, const HostKind& now) {
  if (before == now) return "";
  return fmt::format("since the run before it changed from {}", to_text(before));
}

/// The host's rounds over its own earlier median.
std::vector<double> own_rounds(const Fleet& fleet, const FleetHost& host, std::size_t kernel,
                               double median) {
  std::vector<double> relative;
  for (const PassTimes& pass : counted_rounds(host, kernel))
    if (pass.node > 0) relative.push_back(bytes_of_host(fleet, host, kernel) / pass.node / median);
  return relative;
}

/// Compares one host with its past; `enough`: whether there was enough of it.
Fall fall_of(const std::vector<PastHost>& past, const RunReport& run, std::size_t index,
             bool& enough) {
  const Fleet& newest = *run.fleet;
  const SlowRule& rule = newest.slow->rule;
  Fall fall;
  fall.host = index;
  const FleetHost& host = newest.hosts[index];
  const HostKind& kind = newest.kinds[host.kind];
  for (std::size_t kernel = 0; kernel < newest.kernels.size(); ++kernel) {
    const auto times = times_of(newest, host, kernel);
    if (!times) continue;
    std::vector<double> figures;
    for (const PastHost& one : past) {
      const auto figure = figure_of(one, asked_kernel(run, kernel), kind, host.summaries.empty());
      if (figure) figures.push_back(*figure);
    }
    if (figures.size() < rule.least_hosts) continue;
    enough = true;
    const Peers own = peers_of(figures, rule);
    auto slow = compare(times->rate, own, own_rounds(newest, host, kernel, own.median), rule);
    if (!slow) continue;
    slow->kernel = kernel;
    fall.runs = std::max(fall.runs, own.count);
    fall.kernels.push_back(*slow);
  }
  std::ranges::stable_sort(fall.kernels, std::greater<>(), &SlowKernel::drop);
  if (!past.empty())
    fall.changed = change_text(past.back().run->kinds[past.back().host->kind], kind);
  return fall;
}

void count_run(History& history, const PastRun& run) {
  std::set<std::string> counted;
  for (const PastRun::Host& host : run.hosts) {
    History::Count& count = history.hosts[host.name];
    if (counted.insert(host.name).second) ++count.runs;
    count.unjudged += host.judged ? 0 : 1;
    if (!host.slow) continue;
    ++count.slow;
    count.last_slow = run.started;
  }
}

}  // namespace

PastRun past_run(const RunReport& report) {
  const Fleet& fleet = *report.fleet;
  const SlowReport slow = fleet.slow.value_or(SlowReport{});
  PastRun run;
  run.started = report.started;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel)
    run.kernels.push_back(asked_kernel(report, kernel));
  run.kinds = fleet.kinds;
  for (const FleetHost& host : fleet.hosts) {
    PastRun::Host entry;
    entry.name = host.name;
    entry.kind = host.kind;
    entry.by_rounds = host.summaries.empty();
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      const auto times = times_of(fleet, host, kernel);
      entry.rates.push_back(times ? std::optional<double>(times->rate) : std::nullopt);
    }
    if (!entry.by_rounds) run.by_rounds = false;
    run.hosts.push_back(std::move(entry));
  }
  for (const SlowHost& one : slow.hosts)
    run.hosts[one.host].slow = one.verdict != Verdict::not_confirmed;
  for (const std::size_t host : slow.unjudged) run.hosts[host].judged = false;
  return run;
}

bool same_run(const PastRun& a, const PastRun& b) {
  constexpr std::size_t to_the_minute = 16;  // what the name of a .dat tells: 2026-11-21T10:01
  if (a.by_rounds == b.by_rounds)
    return a.started == b.started && a.kernels == b.kernels && a.hosts == b.hosts;
  const auto names_of = [](const PastRun& run) {
    std::multiset<std::string> names;
    for (const PastRun::Host& host : run.hosts) names.insert(host.name);
    return names;
  };
  return names_of(a) == names_of(b) &&
         a.started.substr(0, to_the_minute) == b.started.substr(0, to_the_minute);
}

History history_of(const std::vector<PastRun>& earlier, const RunReport& latest) {
  const Fleet& newest = *latest.fleet;
  History history;
  std::map<std::string, std::vector<PastHost>> past;
  for (const PastRun& run : earlier) {
    count_run(history, run);
    for (const PastRun::Host& host : run.hosts) past[host.name].push_back({&run, &host});
  }
  count_run(history, past_run(latest));
  for (std::size_t host = 0; host < newest.hosts.size(); ++host) {
    bool enough = false;
    Fall fall = fall_of(past[newest.hosts[host].name], latest, host, enough);
    if (enough)
      ++history.judged;
    else
      history.unjudged.push_back(host);
    if (!fall.kernels.empty()) history.falls.push_back(std::move(fall));
  }
  std::ranges::stable_sort(history.falls, std::greater<>(),
                           [](const Fall& fall) { return fall.kernels.front().drop; });
  return history;
}

std::string to_text(const Fleet& newest, const Fall& fall) {
  const SlowKernel& worst = fall.kernels.front();
  std::string text = fmt::format(
      "{}: {} {}", newest.hosts[fall.host].name, full_name(newest.kernels[worst.kernel]),
      to_text(worst, fmt::format("the median of its own {} earlier runs", fall.runs)));
  text += also_text(newest, fall.kernels);
  return fall.changed.empty() ? text : text + "; " + fall.changed;
}

}  // namespace numatlas

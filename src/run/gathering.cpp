#include "run/gathering.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/signals.h"
#include "base/text.h"
#include "engine/agreement.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

/// When a process began and ended.
struct Span {
  int rank;
  std::int64_t start_ns, end_ns;
  double seconds() const { return static_cast<double>(end_ns - start_ns) * 1e-9; }
};

std::vector<Span> processes_of(std::span<const Sample> workers, std::span<const int> rank_of) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const std::int64_t start = workers[i].start_ns, end = start + workers[i].duration_ns;
    if (spans.empty() || spans.back().rank != rank_of[i]) {
      spans.push_back({rank_of[i], start, end});
      continue;
    }
    spans.back().start_ns = std::min(spans.back().start_ns, start);
    spans.back().end_ns = std::max(spans.back().end_ns, end);
  }
  return spans;
}

using Used = std::optional<CpuUse>;

/// By host; the first rank of each has the watch.
Expected<std::vector<Used>> uses_of_hosts(const std::optional<CpuWatch>& watch, Comm& comm) {
  const Used mine = watch ? Used(watch->use()) : Used();
  if (comm.size() == 1) return std::vector<Used>{mine};
  return gather_by_host(comm, mine, [](const std::vector<Used>& ranks) { return ranks.front(); });
}

}  // namespace

Expected<void> note_cpu_use(const std::optional<CpuWatch>& watch, Comm& comm, bool all_hosts,
                            RunReport& report) {
  const auto all = all_hosts ? TRY(uses_of_hosts(watch, comm)) : std::vector<Used>(1);
  // Rank 0 has a watch where anybody has one: it is the first of its host.
  if (comm.rank() != 0 || !watch) return {};
  CpuUse unknown;
  unknown.reason = "the run ended before this host reported";
  report.cpu_use.assign(report.hosts.size(), unknown);
  std::vector<std::pair<std::string, CpuUse>> by_host;
  for (std::size_t host = 0; host < all.size(); ++host) {
    const Used use = all_hosts ? all[host] : watch->use();
    if (!use) continue;
    report.cpu_use[host] = *use;
    by_host.emplace_back(report.hosts[host], *use);
  }
  if (std::string text = cpu_use_warning(by_host); !text.empty())
    report.warnings.push_back({"other-processes", "", std::move(text)});
  return {};
}

Expected<void> note_silences(Comm& comm, bool all_hosts, RunReport& report) {
  std::vector<std::vector<std::string>> all{comm.take_silences()};
  if (all_hosts)
    all = TRY(gather_by_host(comm, all.front(), [](const auto& ranks) { return ranks.front(); }));
  for (const auto& of_host : all)
    for (const std::string& silence : of_host)
      report.warnings.push_back({silent_rank, "", silence + ", and the others waited"});
  return {};
}

Expected<VisitUse> use_of_visit(const std::optional<CpuWatch>& watch, Comm& comm, bool disturbed,
                                bool counts) {
  const auto all = TRY(uses_of_hosts(watch, comm));
  VisitUse most;
  most.disturbed = disturbed && comm.rank() == 0;
  const auto larger = [](std::optional<double>& a, const std::optional<double>& b) {
    if (b) a = std::max(a.value_or(0), *b);
  };
  for (const Used& use : all) {
    if (!use) continue;
    larger(most.others, use->others);
    larger(most.stolen, use->stolen);
    larger(most.throttled, use->throttled);
    most.disturbed = most.disturbed || is_disturbed(*use);
  }
  most.disturbed = TRY(comm.broadcast_value(most.disturbed));
  most.counts = TRY(comm.broadcast_value(counts));
  return most;
}

std::vector<Warning> said_once(const SaidByHosts& said, const std::vector<std::string>& hosts) {
  std::vector<Warning> all;
  std::vector<std::set<std::size_t>> by;
  std::map<std::array<std::string, 3>, std::size_t> places;
  for (const auto& [host, warning] : said) {
    const auto [place, is_new] =
        places.try_emplace({warning.code, warning.where, warning.text}, all.size());
    if (is_new) {
      all.push_back(warning);
      by.emplace_back();
    }
    by[place->second].insert(host);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (by[i].size() == hosts.size()) continue;
    std::vector<std::string> names;
    for (const std::size_t host : by[i]) names.push_back(hosts[host]);
    std::string& where = all[i].where;
    where = names_text(names) + (where.empty() ? "" : ", " + where);
  }
  return all;
}

PlacementSeen placement_seen(const Trace& trace) {
  const Residency& seen = trace.residency;
  PlacementSeen placement;
  const auto all = static_cast<double>(seen.pages_total);
  // A device tells of all pages without being asked for any.
  placement.sampled = seen.pages_asked > 0 && seen.pages_asked < seen.pages_total;
  const double scale = placement.sampled ? all / static_cast<double>(seen.pages_asked) : 1;
  const auto page = static_cast<double>(seen.page_size.value_or(Bytes{kernel::page_size()}).value);
  // Between and behind arrays some page may be nobody's.
  double known = static_cast<double>(seen.untouched) * scale;
  for (const auto& [node, count] : seen.pages_by_node) {
    placement.bytes_by_node[node] = static_cast<double>(count) * scale * page;
    known += static_cast<double>(count) * scale;
  }
  placement.unknown = std::max(0.0, all - known) * page;
  placement.pages = {seen.page_text()};
  placement.warnings = trace.warnings;
  if (!trace.policy.note.empty())
    placement.warnings.push_back({"placement-method", "", trace.policy.note});
  return placement;
}

PlacementSeen fold(const std::vector<PlacementSeen>& parts) {
  PlacementSeen all;
  for (const PlacementSeen& part : parts) {
    for (const auto& [node, bytes] : part.bytes_by_node) all.bytes_by_node[node] += bytes;
    all.unknown += part.unknown;
    all.sampled = all.sampled || part.sampled;
    for (const std::string& pages : part.pages) add_once(all.pages, pages);
    for (const Warning& warning : part.warnings) add_once(all.warnings, warning);
  }
  std::ranges::sort(all.pages);
  return all;
}

std::string to_text(const PlacementSeen& seen) {
  const auto rounded = [](double bytes) {
    return to_rounded_text(Bytes{static_cast<std::uint64_t>(std::llround(bytes))});
  };
  std::vector<std::string> parts;
  for (const auto& [node, bytes] : seen.bytes_by_node)
    parts.push_back(fmt::format("{} on node {}", rounded(bytes), node));
  if (seen.unknown >= 0.5) parts.push_back(rounded(seen.unknown) + " not observed");
  std::string text = parts.empty() ? "not observed" : fmt::format("{}", fmt::join(parts, ", "));
  if (seen.sampled) text += ", by a sample";
  for (const std::string& pages : seen.pages) text += fmt::format(" ({})", pages);
  return text;
}

PassTimes reduce_pass(std::span<const Sample> workers, std::span<const int> rank_of) {
  PassTimes times;
  const std::vector<Span> spans = processes_of(workers, rank_of);
  if (spans.empty()) return times;
  times.fastest = spans.front().seconds();
  std::int64_t first_start = spans.front().start_ns, last_end = spans.front().end_ns;
  for (const Span& span : spans) {
    const double seconds = span.seconds();
    times.sum += seconds;
    times.fastest = std::min(times.fastest, seconds);
    first_start = std::min(first_start, span.start_ns);
    last_end = std::max(last_end, span.end_ns);
    if (times.slowest_rank >= 0 && seconds <= times.slowest) continue;
    times.slowest = seconds;
    times.slowest_rank = span.rank;
  }
  std::int64_t last_start = first_start, first_end = last_end;
  for (const Sample& worker : workers) {
    last_start = std::max(last_start, worker.start_ns);
    first_end = std::min(first_end, worker.start_ns + worker.duration_ns);
  }
  const auto together = static_cast<double>(std::max<std::int64_t>(0, first_end - last_start));
  times.node = static_cast<double>(last_end - first_start) * 1e-9;
  times.overlap = times.node > 0 ? together * 1e-9 / times.node : 1;
  return times;
}

void add_pass(std::span<const Sample> workers, std::span<const int> rank_of,
              std::vector<ProcessPasses>& processes) {
  const std::vector<Span> spans = processes_of(workers, rank_of);
  if (spans.empty()) return;
  const std::int64_t first = std::ranges::min_element(spans, {}, &Span::start_ns)->start_ns;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    processes[i].starts.push_back(static_cast<double>(spans[i].start_ns - first) * 1e-9);
    processes[i].seconds.push_back(spans[i].seconds());
  }
}

Expected<void> meet_hosts(Group& leaders, std::vector<HostWords> all, const Machine& mine,
                          RunReport& report, SaidByHosts& said) {
  const bool met = !report.hosts.empty();
  std::vector<HostKind> kinds;
  std::vector<char> sends_machine(all.size());  // by host: the first of its kind
  for (std::size_t host = 0; host < all.size(); ++host) {
    HostWords& words = all[host];
    for (Warning& warning : words.warnings) said.emplace_back(host, std::move(warning));
    if (met) {
      if (words.row.placement != report.host_rows[host].placement)
        said.emplace_back(host,
                          Warning{"placement", "",
                                  "a later case's memory lay elsewhere: " + words.row.placement});
      continue;
    }
    words.kind.processes = words.row.processes;
    words.kind.workers = words.row.workers;
    const auto known =
        std::ranges::find_if(kinds, [&](const HostKind& one) { return alike(one, words.kind); });
    words.row.kind = static_cast<std::size_t>(known - kinds.begin());
    sends_machine[host] = known == kinds.end() ? 1 : 0;
    if (known == kinds.end()) kinds.push_back(std::move(words.kind));
    report.hosts.push_back(std::move(words.name));
    report.host_rows.push_back(std::move(words.row));
    for (Case& one : report.cases) one.host_totals.push_back({static_cast<int>(host), {}});
  }
  const auto wanted = TRY(leaders.broadcast_values<char>(sends_machine));
  const bool wants_mine = wanted[static_cast<std::size_t>(leaders.rank())] != 0;
  auto machines = TRY(
      gather_fields(leaders, wants_mine ? std::optional<Machine>(mine) : std::optional<Machine>()));
  for (std::optional<Machine>& its : machines)
    if (its) report.machines.push_back(*std::move(its));
  return {};
}

Expected<void> add_round(Group& leaders, std::size_t first, std::span<const PassTimes> mine,
                         std::vector<PassTimes> HostTotals::*to, RunReport& report) {
  const auto all = TRY(leaders.gather_values<PassTimes>(mine));
  for (std::size_t host = 0; host < all.size(); ++host)
    for (std::size_t i = 0; i < all[host].size(); ++i)
      (report.cases[first + i].host_totals[host].*to).push_back(all[host][i]);
  return {};
}

HostRounds::HostRounds(Comm& comm, const Setup& setup, const ReducedToHosts& reduced,
                       RunReport& report, Progress& progress, AfterRound after_round)
    : comm_(comm),
      setup_(setup),
      report_(report),
      progress_(progress),
      after_round_(std::move(after_round)),
      reduced_(reduced) {
  report_.hosts.clear();  // they are met
  report_.machines.clear();
  report_.workers.clear();
  for (const Flow& flow : setup_.plan.front().scenario.flows) {
    const int local = setup_.layout.workers[static_cast<std::size_t>(flow.worker)].rank;
    rank_of_.push_back(setup_.host->world_rank(local));
  }
}

std::size_t HostRounds::first_case_of(std::size_t scenario) {
  std::vector<Case>& cases = report_.cases;
  std::size_t first = 0, before = 0;
  for (std::size_t i = 0; i < setup_.plan.size(); ++i) {
    const auto& passes = setup_.plan[i].passes;
    if (i == scenario) first = before;
    if (before == cases.size()) cases.insert(cases.end(), passes.begin(), passes.end());
    before += passes.size();
  }
  return first;
}

void HostRounds::begin(std::size_t index) {
  first_case_ = first_case_of(index);
  if (!reduced_.keeps_processes || !processes_.empty()) return;
  std::vector<ProcessPasses> all(static_cast<std::size_t>(setup_.host->size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    all[rank].rank = setup_.host->world_rank(static_cast<int>(rank));
  processes_.assign(report_.cases.size(), all);
}

/// Before the first pass: an error here is one of the ranks' talk, which the engine meets next.
void HostRounds::meet(const std::vector<const Trace*>& traces) {
  if (retesting_) return;
  std::vector<PlacementSeen> mine;
  for (const Trace* trace : traces) mine.push_back(placement_seen(*trace));
  auto all = gather_by_host(comm_, fold(mine), [&](const std::vector<PlacementSeen>& ranks) {
    const PlacementSeen placement = fold(ranks);
    HostWords words{setup_.layout.hosts.front(), {}, {}, setup_.warnings};
    words.row.first_rank = setup_.host->world_rank(0);
    words.row.processes = setup_.host->size();
    words.row.workers = static_cast<int>(setup_.layout.workers.size());
    words.row.placement = to_text(placement);
    words.row.identity = setup_.machine.identity;
    words.kind = kind_of(setup_.machine, words.row.processes, words.row.workers);
    words.warnings.insert(words.warnings.end(), placement.warnings.begin(),
                          placement.warnings.end());
    return words;
  });
  Group* const leaders = comm_.leaders();
  if (all && leaders != nullptr)
    (void)meet_hosts(*leaders, *std::move(all), setup_.machine, report_, said_);
}

Expected<void> HostRounds::take_round(const Scenario& scenario, const std::vector<Trace>& traces) {
  // A rank of this host that died stops it too: the wait tells which.
  if (TRY(comm_.any(stop_requested()))) return fail(ErrorKind::interrupted, "interrupted");
  const std::size_t passes = *scenario.stop.steps;
  std::vector<Sample> mine;
  for (const Trace& trace : traces)
    mine.insert(mine.end(), trace.samples.begin(), trace.samples.end());
  const auto of_ranks = TRY(comm_.host().gather_values<Sample>(mine));
  if (Group* const leaders = comm_.leaders()) {
    std::vector<Sample> all;  // flow by flow
    for (const auto& its : of_ranks) all.insert(all.end(), its.begin(), its.end());
    const std::size_t flows = all.size() / passes;
    const std::span<const int> ranks(rank_of_.data(), flows);
    std::vector<PassTimes> round;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::vector<Sample> of_host;
      for (std::size_t flow = 0; flow < flows; ++flow) of_host.push_back(all[flow * passes + pass]);
      round.push_back(reduce_pass(of_host, ranks));
      if (reduced_.keeps_processes && !retesting_)
        add_pass(of_host, ranks, processes_[first_case_ + pass]);
    }
    TRY(add_round(*leaders, first_case_, round,
                  retesting_ ? &HostTotals::again : &HostTotals::passes, report_));
  }
  if (comm_.rank() != 0 || retesting_) return {};
  progress_.phase(scenario, fmt::format("round {} of {}", scenario.round + 1, reduced_.rounds));
  after_round_();
  return {};
}

Expected<void> HostRounds::gather_rest(const std::optional<CpuWatch>& watch) {
  auto told = note_cpu_use(watch, comm_, true, report_);
  Group* const leaders = comm_.leaders();
  if (told && reduced_.keeps_processes && leaders != nullptr) {
    auto all = gather_fields(*leaders, processes_);
    if (!all) told = fail(all.error());
    for (std::size_t host = 0; all && host < all->size(); ++host)
      for (std::size_t i = 0; i < (*all)[host].size(); ++i)
        report_.cases[i].host_totals[host].processes = std::move((*all)[host][i]);
  }
  return agree(comm_, error_of(told));
}

Expected<void> HostRounds::retest(const std::vector<std::size_t>& chosen,
                                  const std::function<Expected<void>(bool)>& run) {
  retested_ = true;
  const auto again = TRY(comm_.broadcast_values<std::size_t>(chosen));
  if (again.empty()) return {};
  const auto here =
      static_cast<std::size_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  retesting_ = true;
  auto ran = run(std::ranges::find(again, here) != again.end());
  if (!ran)
    for (Case& one : report_.cases)
      for (HostTotals& totals : one.host_totals) totals.again.clear();
  return ran;
}

}  // namespace numatlas

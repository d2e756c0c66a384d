#include "run/host_gathering.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "machine/source.h"
#include "record/report_fields.h"

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

/// What a host says of itself when it is met.
struct Meeting {
  std::string name;
  HostRow row;
  HostKind kind;
  std::vector<Warning> warnings;
};
void list_fields(auto& f, Of<Meeting> auto& m) {
  f("name", m.name, "");
  f("row", m.row, "");
  f("cpu_model", m.kind.cpu_model, "");
  f("os", m.kind.os, "");
  f("cpus", m.kind.cpus, "");
  f("nodes", m.kind.nodes, "");
  f("memory", m.kind.memory, "");
  f("warnings", m.warnings, "");
}

template <class T>
std::string sent(const T& value) {
  using fields::to_json;
  const fields::ExactNumbers exact;
  return json_line(to_json(value));
}
template <class T>
Expected<T> received(const std::string& text) {
  using fields::from_json;
  T value{};
  std::optional<fields::Problem> problem;
  from_json(nlohmann::json::parse(text), fields::Place("host", problem), value);
  if (!problem) return value;
  return fail(ErrorKind::internal,
              fmt::format("a host sent a field '{}' that {}", problem->path, problem->why));
}

}  // namespace

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
  times.start = static_cast<double>(first_start) * 1e-9;
  times.node = static_cast<double>(last_end - first_start) * 1e-9;
  times.overlap = times.node > 0 ? together * 1e-9 / times.node : 1;
  return times;
}

std::vector<ProcessPass> process_passes(std::span<const Sample> workers,
                                        std::span<const int> rank_of) {
  const std::vector<Span> spans = processes_of(workers, rank_of);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Span& span : spans) first = std::min(first, span.start_ns);
  std::vector<ProcessPass> passes;
  for (const Span& span : spans)
    passes.push_back({static_cast<double>(span.start_ns - first) * 1e-9, span.seconds()});
  return passes;
}

Expected<void> HostGathering::meet(const std::string& name, const HostRow& host,
                                   const HostKind& kind, const std::vector<Warning>& warnings,
                                   const Machine& machine) {
  const auto all = TRY(leaders_.gather(sent(Meeting{name, host, kind, warnings})));
  std::vector<char> firsts;  // by host: whether it is the first of its kind
  for (const std::string& text : all) {
    auto met = TRY(received<Meeting>(text));
    met.kind.processes = met.row.processes;
    met.kind.workers = met.row.workers;
    const auto known =
        std::ranges::find_if(kinds_, [&](const HostKind& one) { return alike(one, met.kind); });
    firsts.push_back(known == kinds_.end() ? 1 : 0);
    met.row.kind = static_cast<std::size_t>(known - kinds_.begin());
    if (known == kinds_.end()) kinds_.push_back(met.kind);
    const std::size_t index = report_.hosts.size();
    report_.hosts.push_back(std::move(met.name));
    report_.host_rows.push_back(std::move(met.row));
    for (Case& one : report_.cases) one.host_totals.push_back({static_cast<int>(index), {}});
    for (Warning& warning : met.warnings) said_.emplace_back(index, std::move(warning));
  }
  const auto wanted = TRY(leaders_.broadcast_values<char>(firsts));
  const bool mine = wanted[static_cast<std::size_t>(leaders_.rank())] != 0;
  const auto machines = TRY(leaders_.gather(mine ? to_json(machine).dump() : ""));
  for (const std::string& text : machines) {
    if (text.empty()) continue;
    auto its = TRY(machine_from_json(nlohmann::json::parse(text)));
    report_.machines.push_back(std::move(its));
  }
  return {};
}

Expected<void> HostGathering::add_round(std::size_t first, std::span<const PassTimes> passes) {
  const auto all = TRY(leaders_.gather_values<PassTimes>(passes));
  for (std::size_t host = 0; host < all.size(); ++host)
    for (std::size_t i = 0; i < all[host].size(); ++i) {
      HostTotals& totals = report_.cases[first + i].host_totals[host];
      (again_ ? totals.again : totals.passes).push_back(all[host][i]);
    }
  return {};
}

template <class T, class Put>
Expected<void> HostGathering::add_of_hosts(const T& mine, Put put) {
  const auto all = TRY(leaders_.gather(sent(mine)));
  for (std::size_t host = 0; host < all.size(); ++host) {
    auto value = TRY(received<T>(all[host]));
    put(host, std::move(value));
  }
  return {};
}

Expected<void> HostGathering::add_processes(const std::vector<std::vector<ProcessPasses>>& mine) {
  return add_of_hosts(mine, [&](std::size_t host, auto its) {
    for (std::size_t i = 0; i < its.size(); ++i)
      report_.cases[i].host_totals[host].processes = std::move(its[i]);
  });
}

Expected<void> HostGathering::add_cpu_use(const CpuUse& mine) {
  return add_of_hosts(mine,
                      [&](std::size_t, CpuUse its) { report_.cpu_use.push_back(std::move(its)); });
}

Expected<void> HostGathering::add_warnings(const std::vector<Warning>& mine) {
  return add_of_hosts(mine, [&](std::size_t host, auto its) {
    for (Warning& warning : its) said_.emplace_back(host, std::move(warning));
  });
}

std::vector<Warning> HostGathering::warnings() const {
  std::vector<Warning> all;
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<std::string>> hosts;
  for (const auto& [host, warning] : said_) {
    const auto [place, is_new] = places.try_emplace(sent(warning), all.size());
    if (is_new) {
      all.push_back(warning);
      hosts.emplace_back();
    }
    std::vector<std::string>& names = hosts[place->second];
    const std::string& name = report_.hosts[host];
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (hosts[i].size() == report_.hosts.size()) continue;
    std::string& where = all[i].where;
    where = names_text(hosts[i]) + (where.empty() ? "" : ", " + where);
  }
  return all;
}

}  // namespace numatlas

#include "fleet/summary.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace numatlas {
namespace {

std::optional<Estimate> median_over_hosts(const std::vector<Summary>& rounds_of_hosts) {
  if (rounds_of_hosts.empty()) return std::nullopt;
  if (rounds_of_hosts.size() == 1) return estimate_of_median(rounds_of_hosts.front(), std::nullopt);
  std::vector<double> medians;
  for (const Summary& rounds : rounds_of_hosts) medians.push_back(rounds.median);
  return estimate_of_median(medians);
}

/// Collects one row; times and rates are told apart because hosts may run unlike numbers of
/// processes.
struct RowMaker {
  TimeRow row;
  double seconds = 0, bytes = 0, count = 0;
  std::vector<double> rates;      ///< of the rounds of the host at hand
  std::vector<Summary> of_hosts;  ///< their rounds

  RowMaker() {
    row.minimum = std::numeric_limits<double>::infinity();
    row.minimum_rate = std::numeric_limits<double>::infinity();
  }
  /// Moved `moved` bytes, in `fastest` seconds at best and in `slowest` at worst.
  void add(std::size_t host, double moved, double fastest, double slowest, int rank) {
    row.minimum = std::min(row.minimum, fastest);
    if (fastest > 0) row.maximum_rate = std::max(row.maximum_rate, moved / fastest);
    if (slowest > 0) row.minimum_rate = std::min(row.minimum_rate, moved / slowest);
    if (slowest <= row.maximum) return;
    row.maximum = slowest;
    row.slowest_host = host;
    row.slowest_rank = rank;
  }
  /// `weight` times of `total` seconds together, each of which moved `moved` bytes.
  void add_average(double moved, double total, double weight) {
    seconds += total;
    bytes += moved * weight;
    count += weight;
    if (total > 0) rates.push_back(moved * weight / total);
  }
  void end_host() {
    if (const auto rounds = summarize(rates)) of_hosts.push_back(*rounds);
    rates.clear();
  }
  TimeRow finish() {
    row.average = seconds / count;
    row.average_rate = seconds > 0 ? bytes / seconds : 0;
    if (row.maximum <= 0) row.minimum_rate = 0;
    row.median = median_over_hosts(of_hosts);
    return row;
  }
};

struct KernelMaker {
  RowMaker process, host;
  double host_bytes = 0, hosts = 0;
  bool processes_known = true;

  std::optional<KernelRows> finish() {
    if (host.count == 0) return std::nullopt;
    KernelRows rows{process.finish(), host.finish(), processes_known, 0};
    if (!processes_known) {
      rows.process.minimum = rows.process.maximum_rate = 0;
      rows.process.maximum = rows.process.minimum_rate = 0;
    }
    if (rows.process.average > 0) rows.summed_rate = host_bytes / hosts / rows.process.average;
    return rows;
  }
};

double processes_of(const Fleet& fleet, const FleetHost& host) {
  return fleet.kinds[host.kind].processes;
}

void add_host(KernelMaker& maker, const Fleet& fleet, std::size_t index, std::size_t kernel) {
  const FleetHost& host = fleet.hosts[index];
  const auto bytes = static_cast<double>(fleet.kernels[kernel].bytes);
  const double processes = processes_of(fleet, host), all = bytes * processes;
  const auto rounds = counted_rounds(host, kernel);
  for (const PassTimes& pass : rounds) {
    maker.process.add(index, bytes, pass.fastest, pass.slowest, pass.slowest_rank);
    maker.process.add_average(bytes, pass.sum, processes);
    maker.host.add(index, all, pass.node, pass.node, pass.slowest_rank);
    maker.host.add_average(all, pass.node, 1);
  }
  const bool summed = kernel < host.summaries.size() && host.summaries[kernel].has_value();
  if (summed) {
    maker.processes_known = false;
    const HostSummary& times = *host.summaries[kernel];
    maker.process.add(index, bytes, times.minimum, times.maximum, -1);
    maker.process.add_average(bytes, times.average * processes, processes);
    maker.host.add(index, all, times.minimum, times.maximum, -1);
    maker.host.add_average(all, times.average, 1);
  }
  if (rounds.empty() && !summed) return;
  maker.process.end_host();
  maker.host.end_host();
  maker.host_bytes += all;
  maker.hosts += 1;
}

}  // namespace

std::span<const PassTimes> counted_rounds(const FleetHost& host, std::size_t kernel) {
  if (kernel >= host.rounds.size()) return {};
  const std::span<const PassTimes> all = host.rounds[kernel];
  return all.size() > 1 ? all.subspan(1) : all;
}

std::string overlap_warning(const Fleet& fleet) {
  // Below this a host's figure says more of who waited than of its memory.
  constexpr double least_overlap = 0.9;
  std::vector<std::string> names;
  for (const FleetHost& host : fleet.hosts) {
    std::vector<double> overlaps;
    for (std::size_t kernel = 0; kernel < host.rounds.size(); ++kernel) {
      for (const PassTimes& pass : counted_rounds(host, kernel)) overlaps.push_back(pass.overlap);
    }
    const auto summary = summarize(overlaps);
    if (summary && summary->median < least_overlap)
      names.push_back(fmt::format("{} {:.0f} %", host.name, summary->median * 100));
  }
  if (names.empty()) return "";
  return "workers did not run concurrently for the whole pass, so figures understate the node's "
         "memory (median concurrent share): " +
         names_text(names);
}

std::string disturbance_warning(const Fleet& fleet) {
  std::vector<std::pair<std::string, CpuUse>> by_host;
  for (const FleetHost& host : fleet.hosts)
    if (host.cpu_use) by_host.emplace_back(host.name, *host.cpu_use);
  return cpu_use_warning(by_host);
}

std::optional<StartSpread> start_spread(const Fleet& fleet) {
  const std::size_t rounds = finished_rounds(fleet);
  // Rank 0's own clock is not off.
  const double between_clocks = fleet.clock_error * (fleet.hosts.size() > 2 ? 2 : 1);
  std::vector<double> spreads, parts;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size() && fleet.hosts.size() > 1; ++kernel) {
    for (std::size_t round = rounds > 1 ? 1 : 0; round < rounds; ++round) {
      double first = std::numeric_limits<double>::infinity(), last = 0, shortest = first;
      for (const FleetHost& host : fleet.hosts) {
        const PassTimes& pass = host.rounds[kernel][round];
        if (pass.start < 0) return std::nullopt;
        first = std::min(first, pass.start);
        last = std::max(last, pass.start);
        shortest = std::min(shortest, pass.node);
      }
      spreads.push_back(last - first + between_clocks);
      if (shortest > 0) parts.push_back(spreads.back() / shortest);
    }
  }
  const auto seconds = summarize(spreads), part = summarize(parts);
  if (!seconds || !part) return std::nullopt;
  return StartSpread{seconds->median, part->median};
}

std::size_t finished_rounds(const Fleet& fleet) {
  std::optional<std::size_t> least;
  for (const FleetHost& host : fleet.hosts) {
    if (host.rounds.size() < fleet.kernels.size()) return 0;
    for (const auto& rounds : host.rounds)
      least = std::min(least.value_or(rounds.size()), rounds.size());
  }
  return least.value_or(0);
}

double bytes_of_host(const Fleet& fleet, const FleetHost& host, std::size_t kernel) {
  return static_cast<double>(fleet.kernels[kernel].bytes) * processes_of(fleet, host);
}

std::vector<double> rates_of(const Fleet& fleet, const FleetHost& host, std::size_t kernel) {
  std::vector<double> rates;
  for (const PassTimes& pass : counted_rounds(host, kernel))
    rates.push_back(pass.node > 0 ? bytes_of_host(fleet, host, kernel) / pass.node : 0);
  return rates;
}

std::optional<HostTimes> times_of(const Fleet& fleet, const FleetHost& host, std::size_t kernel) {
  const double bytes = bytes_of_host(fleet, host, kernel);
  HostTimes times;
  if (kernel < host.summaries.size() && host.summaries[kernel]) {
    const HostSummary& told = *host.summaries[kernel];
    times.average = times.process_average = told.average;
    times.minimum = told.minimum;
    times.maximum = told.maximum;
    if (told.average > 0) times.rate = bytes / told.average;
    return times;
  }
  const auto rounds = counted_rounds(host, kernel);
  if (rounds.empty()) return std::nullopt;
  std::vector<double> rates = rates_of(fleet, host, kernel);
  std::erase(rates, 0.0);
  times.minimum = std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(rounds.size());
  for (const PassTimes& pass : rounds) {
    times.average += pass.node / count;
    times.process_average += pass.sum / processes_of(fleet, host) / count;
    times.minimum = std::min(times.minimum, pass.node);
    times.maximum = std::max(times.maximum, pass.node);
  }
  times.rates = summarize(rates);
  if (times.rates) times.rate = times.rates->median;
  return times;
}

std::vector<std::optional<KernelRows>> rows_of(const Fleet& fleet) {
  std::vector<std::optional<KernelRows>> rows;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    KernelMaker maker;
    for (std::size_t host = 0; host < fleet.hosts.size(); ++host)
      add_host(maker, fleet, host, kernel);
    rows.push_back(maker.finish());
  }
  return rows;
}

PeerInput peers_in(const Fleet& fleet) {
  PeerInput input;
  for (const FleetHost& host : fleet.hosts) {
    input.hosts.push_back(host.name);
    input.kinds.push_back(host.kind);
  }
  for (const HostKind& kind : fleet.kinds) input.kind_texts.push_back(to_text(kind));
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    input.cases.push_back(full_name(fleet.kernels[kernel]));
    auto& rates = input.rates.emplace_back();
    for (const FleetHost& host : fleet.hosts) {
      auto& rate = rates.emplace_back();
      const auto times = times_of(fleet, host, kernel);
      if (times) rate = PeerRate{times->rate, std::nullopt, rates_of(fleet, host, kernel), 1};
    }
    if (!fleet.retest) continue;
    auto& again = input.again.emplace_back(fleet.hosts.size());
    for (const FleetHost& host : fleet.retest->hosts) {
      const auto same = std::ranges::find_if(fleet.hosts, [&](const FleetHost& one) {
        return one.name == host.name && one.kind == host.kind;
      });
      const auto times = times_of(fleet, host, kernel);
      if (same != fleet.hosts.end() && times)
        again[static_cast<std::size_t>(same - fleet.hosts.begin())] = times->rate;
    }
  }
  return input;
}

SlowReport find_slow(const Fleet& fleet, const SlowRule& rule) {
  return judge_peers(peers_in(fleet), rule);
}

std::string to_text(const Fleet& fleet, const SlowHost& slow) {
  std::vector<std::string> names;
  for (const FleetKernel& kernel : fleet.kernels) names.push_back(full_name(kernel));
  return to_text(fleet.hosts[slow.host].name, names, slow);
}

}  // namespace numatlas

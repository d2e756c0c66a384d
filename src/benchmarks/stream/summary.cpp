#include "benchmarks/stream/summary.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/peers.h"
#include "base/statistics.h"
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

  std::optional<KernelRows> finish() {
    if (host.count == 0) return std::nullopt;
    KernelRows rows{process.finish(), host.finish(), 0};
    if (rows.process.average > 0) rows.summed_rate = host_bytes / hosts / rows.process.average;
    return rows;
  }
};

void add_host(KernelMaker& maker, const RunReport& report, const Case& one,
              const HostTotals& totals) {
  const auto index = static_cast<std::size_t>(totals.host);
  const double processes = report.host_rows[index].processes;
  const double all = bytes_of_host(report, one, totals.host), bytes = all / processes;
  const auto passes = counted(totals.passes);
  if (passes.empty()) return;
  for (const PassTimes& pass : passes) {
    maker.process.add(index, bytes, pass.fastest, pass.slowest, pass.slowest_rank);
    maker.process.add_average(bytes, pass.sum, processes);
    maker.host.add(index, all, pass.node, pass.node, pass.slowest_rank);
    maker.host.add_average(all, pass.node, 1);
  }
  maker.process.end_host();
  maker.host.end_host();
  maker.host_bytes += all;
  maker.hosts += 1;
}

/// The cases that hosts measured.
std::vector<const Case*> measured(const RunReport& report) {
  std::vector<const Case*> cases;
  for (const Case& one : report.cases)
    if (!is_finding(one)) cases.push_back(&one);
  return cases;
}

void add_figures(const TimeRow& row, const std::string& of, std::vector<Figure>& figures) {
  figures.push_back({of + "bandwidth", "B/s", row.median, {}});
  const auto add = [&](const char* key, Unit unit, double value) {
    figures.push_back({of + key, unit, Estimate(value), {}});
  };
  add("average_bandwidth", "B/s", row.average_rate);
  add("average_time", "s", row.average);
  add("best_bandwidth", "B/s", row.maximum_rate);
  add("best_time", "s", row.minimum);
  add("worst_bandwidth", "B/s", row.minimum_rate);
  add("worst_time", "s", row.maximum);
}

}  // namespace

std::uint64_t elements_of(const RunReport& report) {
  for (const Case* one : measured(report)) {
    const std::string text = label_of(*one, elements_label);
    if (!text.empty()) return std::stoull(text);
  }
  return 0;
}

std::vector<Figure> figures_of(const KernelRows& rows) {
  std::vector<Figure> figures;
  add_figures(rows.host, "", figures);
  add_figures(rows.process, "process_", figures);
  return figures;
}

std::string overlap_warning(const RunReport& report) {
  // Below this a host's figure says more of who waited than of its memory.
  constexpr double least_overlap = 0.9;
  std::vector<std::string> names;
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    std::vector<double> overlaps;
    for (const Case* one : measured(report))
      for (const PassTimes& pass : counted(one->host_totals[host].passes))
        overlaps.push_back(pass.overlap);
    const auto summary = summarize(overlaps);
    if (summary && summary->median < least_overlap)
      names.push_back(fmt::format("{} {:.0f} %", report.hosts[host], summary->median * 100));
  }
  if (names.empty()) return "";
  return "workers did not run concurrently for the whole pass, so figures understate the host's "
         "memory (median concurrent share): " +
         names_text(names);
}

std::size_t finished_rounds(const RunReport& report) {
  std::optional<std::size_t> least;
  for (const Case* one : measured(report))
    for (const HostTotals& host : one->host_totals)
      least = std::min(least.value_or(host.passes.size()), host.passes.size());
  return least.value_or(0);
}

std::vector<std::optional<KernelRows>> kernel_rows(const RunReport& report) {
  std::vector<std::optional<KernelRows>> rows;
  for (const Case* one : measured(report)) {
    KernelMaker maker;
    for (const HostTotals& host : one->host_totals) add_host(maker, report, *one, host);
    rows.push_back(maker.finish());
  }
  return rows;
}

}  // namespace numatlas

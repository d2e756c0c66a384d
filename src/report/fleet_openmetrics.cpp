#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fleet/summary.h"
#include "report/fleet_writers.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

MetricLabels with_kernel(MetricLabels labels, const FleetKernel& kernel) {
  labels.insert(labels.end(),
                {{"kernel", kernel.name}, {"mode", kernel.mode}, {"stores", kernel.stores}});
  return labels;
}

/// A label for each host; of hosts with the same name (a container's) the first rank tells them
/// apart, since a series that stands twice makes Prometheus refuse the file.
std::vector<MetricLabels> host_labels(const Fleet& fleet) {
  std::map<std::string, int> counts;
  for (const FleetHost& host : fleet.hosts) ++counts[host.name];
  std::vector<MetricLabels> labels;
  for (const FleetHost& host : fleet.hosts) {
    labels.push_back({{"host", host.name}});
    if (counts[host.name] > 1)
      labels.back().emplace_back("first_rank", std::to_string(host.first_rank));
  }
  return labels;
}

std::string host_gauges(const Fleet& fleet, const SlowReport& slow) {
  Gauge bandwidth("numatlas_stream_host_bandwidth_bytes_per_second", "bytes_per_second",
                  "Median bandwidth of a host over the rounds of the last run, bytes as STREAM "
                  "counts them.");
  Gauge is_slow("numatlas_stream_host_slow", "",
                "1 where the host was found slow among hosts of its kind; of judged hosts only.");
  Gauge judged("numatlas_stream_host_judged", "",
               "1 where the host was compared with others of its kind, 0 where it could not be.");
  Gauge drop("numatlas_stream_host_slow_drop_ratio", "ratio",
             "Fraction by which a slow host lies below the median of its kind.");
  const std::vector<MetricLabels> labels = host_labels(fleet);
  std::set<std::size_t> flagged;
  for (const SlowHost& host : slow.hosts) {
    if (host.verdict == Verdict::not_confirmed) continue;
    flagged.insert(host.host);
    for (const SlowKernel& kernel : host.kernels)
      drop.add(with_kernel(labels[host.host], fleet.kernels[kernel.kernel]), kernel.drop);
    if (host.together)
      drop.add(with_kernel(labels[host.host], {"all", "all", "all", 0, 0}), host.together->drop);
  }
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      if (const auto times = times_of(fleet, fleet.hosts[i], kernel))
        bandwidth.add(with_kernel(labels[i], fleet.kernels[kernel]), times->rate);
    }
    const bool known = !std::ranges::binary_search(slow.unjudged, i);  // ascending
    judged.add(labels[i], known ? 1 : 0);
    if (known) is_slow.add(labels[i], flagged.count(i) > 0 ? 1 : 0);
  }
  return bandwidth.text() + judged.text() + is_slow.text() + drop.text();
}

}  // namespace

std::string fleet_openmetrics(const RunReport& run) {
  const Fleet& fleet = *run.fleet;
  const SlowReport slow = fleet.slow.value_or(SlowReport{});
  std::string text = host_gauges(fleet, slow);
  Gauge median("numatlas_stream_bandwidth_bytes_per_second", "bytes_per_second",
               "Median over the hosts of the last run of each host's median bandwidth.");
  const auto rows = rows_of(fleet);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] && rows[i]->host.median)
      median.add(with_kernel({}, fleet.kernels[i]), rows[i]->host.median->value);
  }
  text += median.text();
  const auto one = [&](const char* name, const char* unit, const char* help, double value) {
    Gauge gauge(name, unit, help);
    gauge.add({}, value);
    text += gauge.text();
  };
  one("numatlas_stream_hosts", "", "Hosts of the last run.",
      static_cast<double>(fleet.hosts.size()));
  one("numatlas_stream_hosts_judged", "", "Hosts that were compared with others of their kind.",
      static_cast<double>(slow.judged));
  one("numatlas_stream_hosts_slow", "", "Hosts that were found slow.",
      static_cast<double>(slow.slow()));
  one("numatlas_stream_complete", "", "1 where the last run came to its end.",
      run.complete ? 1 : 0);
  if (const auto started = unix_seconds(run.started)) {
    one("numatlas_stream_last_run_seconds", "seconds",
        "When the last run ended, in seconds since 1970 (UTC).",
        static_cast<double>(*started) + run.seconds);
  }
  return text + "# EOF\n";
}

}  // namespace numatlas

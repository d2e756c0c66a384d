#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fleet/summary.h"
#include "report/fleet_writers.h"

namespace numatlas {
namespace {

std::string label_text(const std::string& value) {
  std::string text;
  for (char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

/// A gauge and its samples.
class Gauge {
 public:
  Gauge(const char* name, const char* unit, const char* help) : name_(name) {
    text_ = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
    // OpenMetrics: the unit is the end of the name. To Prometheus' older format a comment.
    if (*unit != '\0') text_ += fmt::format("# UNIT {} {}\n", name, unit);
  }
  void add(const std::string& labels, double value) {
    text_ += fmt::format("{}{} {}\n", name_, labels.empty() ? "" : "{" + labels + "}", value);
    empty_ = false;
  }
  /// Nothing of a gauge without samples.
  std::string text() const { return empty_ ? "" : text_; }

 private:
  std::string name_, text_;
  bool empty_ = true;
};

std::string kernel_labels(const FleetKernel& kernel) {
  return fmt::format("kernel=\"{}\",mode=\"{}\",stores=\"{}\"", label_text(kernel.name),
                     label_text(kernel.mode), label_text(kernel.stores));
}

/// A label for each host; of hosts with the same name (a container's) the first rank tells them
/// apart, since a series that stands twice makes Prometheus refuse the file.
std::vector<std::string> host_labels(const Fleet& fleet) {
  std::map<std::string, int> counts;
  for (const FleetHost& host : fleet.hosts) ++counts[host.name];
  std::vector<std::string> labels;
  for (const FleetHost& host : fleet.hosts) {
    labels.push_back(fmt::format("host=\"{}\"", label_text(host.name)));
    if (counts[host.name] > 1) labels.back() += fmt::format(",first_rank=\"{}\"", host.first_rank);
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
             "Of a slow host: part by which it lies below the median of its kind.");
  const std::vector<std::string> labels = host_labels(fleet);
  std::set<std::size_t> flagged;
  for (const SlowHost& host : slow.hosts) {
    if (host.verdict == Verdict::not_confirmed) continue;
    flagged.insert(host.host);
    for (const SlowKernel& kernel : host.kernels)
      drop.add(labels[host.host] + "," + kernel_labels(fleet.kernels[kernel.kernel]), kernel.drop);
  }
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      if (const auto times = times_of(fleet, fleet.hosts[i], kernel))
        bandwidth.add(labels[i] + "," + kernel_labels(fleet.kernels[kernel]), times->rate);
    }
    const bool known =
        !std::binary_search(slow.unjudged.begin(), slow.unjudged.end(), i);  // ascending
    judged.add(labels[i], known ? 1 : 0);
    if (known) is_slow.add(labels[i], flagged.count(i) > 0 ? 1 : 0);
  }
  return bandwidth.text() + judged.text() + is_slow.text() + drop.text();
}

}  // namespace

std::optional<std::int64_t> unix_seconds(const std::string& iso) {
  const std::string_view shape = "0000-00-00T00:00:00Z";
  if (iso.size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = iso[i] >= '0' && iso[i] <= '9';
    if (shape[i] == '0' ? !digit : iso[i] != shape[i]) return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t length) {
    int value = 0;
    std::from_chars(iso.data() + at, iso.data() + at + length, value);
    return value;
  };
  std::tm time{};
  time.tm_year = part(0, 4) - 1900;
  time.tm_mon = part(5, 2) - 1;
  time.tm_mday = part(8, 2);
  time.tm_hour = part(11, 2);
  time.tm_min = part(14, 2);
  time.tm_sec = part(17, 2);
  return static_cast<std::int64_t>(timegm(&time));
}

std::string fleet_openmetrics(const Fleet& fleet, const SlowReport& slow) {
  std::string text = host_gauges(fleet, slow);
  Gauge median("numatlas_stream_bandwidth_bytes_per_second", "bytes_per_second",
               "Median bandwidth of a host over all hosts and rounds of the last run.");
  const auto rows = rows_of(fleet);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] && rows[i]->host.rates)
      median.add(kernel_labels(fleet.kernels[i]), rows[i]->host.rates->median);
  }
  text += median.text();
  const auto one = [&](const char* name, const char* unit, const char* help, double value) {
    Gauge gauge(name, unit, help);
    gauge.add("", value);
    text += gauge.text();
  };
  one("numatlas_stream_hosts", "", "Hosts of the last run.",
      static_cast<double>(fleet.hosts.size()));
  one("numatlas_stream_hosts_judged", "", "Hosts that were compared with others of their kind.",
      static_cast<double>(slow.judged));
  one("numatlas_stream_hosts_slow", "", "Hosts that were found slow.",
      static_cast<double>(slow.slow()));
  one("numatlas_stream_complete", "", "1 where the last run came to its end.",
      fleet.complete ? 1 : 0);
  if (const auto started = unix_seconds(fleet.started)) {
    one("numatlas_stream_last_run_seconds", "seconds",
        "When the last run ended, in seconds since 1970 (UTC).",
        static_cast<double>(*started) + fleet.seconds);
  }
  return text + "# EOF\n";
}

}  // namespace numatlas

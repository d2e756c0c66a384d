// Gauges for Prometheus' textfile collector (valid OpenMetrics as well); no timestamps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/report.h"

namespace numatlas {

/// Names and values of a sample's labels.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// A gauge and its samples.
class Gauge {
 public:
  /// `unit` is the end of the name, as OpenMetrics has it; "" for none.
  Gauge(std::string name, const std::string& unit, const std::string& help);
  void add(const MetricLabels& labels, double value);
  /// Nothing of a gauge without samples.
  std::string text() const { return empty_ ? "" : text_; }

 private:
  std::string name_, text_;
  bool empty_ = true;
};

/// The gauges of figures, one for each key and end of an interval, in the order of the first of
/// each.
class FigureGauges {
 public:
  /// `prefix` begins the names: "numatlas" gives numatlas_latency_low_seconds.
  explicit FigureGauges(std::string prefix = "numatlas") : prefix_(std::move(prefix)) {}
  /// Nothing of a figure without an estimate. A series that is there gets the label `number`.
  void add(const Figure& figure, MetricLabels labels);
  std::string text() const;

 private:
  Gauge& of(const Figure& figure, const std::string& part, const std::string& meaning);

  std::string prefix_;
  std::vector<Gauge> gauges_;
  std::map<std::string, std::size_t> index_;
  std::map<std::pair<std::string, MetricLabels>, int> seen_;
};

/// Every figure of the cases with the ends of its interval, by kernel, size and the labels of its
/// case; of cases without figures of their own those of each worker. Beside them the cases by
/// status, the warnings by code, whether the run is complete and to be trusted, and when it ended.
/// Each series has the labels `command`, `options` (of what was measured), `host` ("all" for
/// figures over several hosts) and `more`: no two runs have a series in common. No label changes
/// with what was found.
std::string report_openmetrics(const RunReport& report, const MetricLabels& more = {});

/// "rack=3,site=north" of --label. Errors name no option: one is not NAME=VALUE, is no name of a
/// label, or is a name that every series has.
Expected<MetricLabels> parse_labels(const std::string& text);

/// Seconds since 1970 of an ISO 8601 time in UTC ("2026-11-21T10:01:05Z"); nullopt for others.
std::optional<std::int64_t> unix_seconds(const std::string& iso);

}  // namespace numatlas

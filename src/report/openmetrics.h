// Gauges for Prometheus' textfile collector (valid OpenMetrics as well); no timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Every figure of the cases with the ends of its interval, by kernel, size and the labels of its
/// case; of cases without figures of their own those of each worker. `host` is "all" for figures
/// over several hosts. Beside them the cases by status, the warnings by code, and when the run
/// ended.
std::string report_openmetrics(const RunReport& report);

/// Seconds since 1970 of an ISO 8601 time in UTC ("2026-11-21T10:01:05Z"); nullopt for others.
std::optional<std::int64_t> unix_seconds(const std::string& iso);

}  // namespace numatlas

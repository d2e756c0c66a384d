#include "report/openmetrics.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/reporter.h"

namespace numatlas {
namespace {

std::string escaped(const std::string& value) {
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

/// What tells a case from the others, of any benchmark.
MetricLabels labels_of(const RunReport& report, const ScenarioResult& one,
                       const std::string& host) {
  const std::string* const own = find_label(one, "host");
  MetricLabels labels{{"command", report.command}, {"host", own == nullptr ? host : *own}};
  if (!one.kernel.empty()) labels.emplace_back("kernel", one.kernel);
  if (one.size.value > 0) labels.emplace_back("size_bytes", std::to_string(one.size.value));
  for (const auto& [name, value] :
       {std::pair("pages", one.pages), {"stores", one.stores}, {"order", one.order}}) {
    if (!value.empty()) labels.emplace_back(name, value);
  }
  for (const auto& [name, value] : one.labels) {
    bool taken = false;
    for (const auto& label : labels) taken = taken || label.first == name;
    if (!taken && !value.empty()) labels.emplace_back(name, value);
  }
  return labels;
}

void add_workers(const RunReport& report, const ScenarioResult& one, FigureGauges& gauges) {
  const bool summed = find_total(one, "bandwidth_sum") != nullptr;
  for (const FlowResult& flow : one.flows) {
    if (summed && find_figure(flow, "bandwidth") != nullptr) continue;  // the sum has them
    const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
    MetricLabels labels =
        labels_of(report, one, report.hosts[static_cast<std::size_t>(worker.host)]);
    labels.emplace_back("rank", std::to_string(worker.rank));
    labels.emplace_back("thread", std::to_string(worker.thread));
    if (worker.cpu_node.value >= 0)
      labels.emplace_back("worker_cpu_node", std::to_string(worker.cpu_node.value));
    labels.emplace_back("observed_memory_node", memory_node_text(flow));
    for (const Figure& figure : flow.figures) gauges.add(figure, labels);
  }
}

std::string figures_text(const RunReport& report) {
  const std::string everywhere = report.hosts.size() == 1 ? report.hosts.front() : "all";
  FigureGauges gauges;
  for (const ScenarioResult& one : report.scenarios) {
    for (const Figure& figure : one.figures) gauges.add(figure, labels_of(report, one, everywhere));
    for (const HostTotals& totals : one.host_totals) {
      const std::string& host = report.hosts[static_cast<std::size_t>(totals.host)];
      for (const Figure& figure : totals.figures) {
        const bool told = report.hosts.size() == 1 && find_total(one, figure.key) != nullptr;
        if (!told) gauges.add(figure, labels_of(report, one, host));
      }
    }
    add_workers(report, one, gauges);
  }
  return gauges.text();
}

}  // namespace

void FigureGauges::add(const Figure& figure, MetricLabels labels) {
  if (!figure.estimate) return;
  // A series that stands twice makes Prometheus refuse the file.
  const auto count = ++seen_[{figure.key, labels}];
  if (count > 1) labels.emplace_back("number", std::to_string(count));
  const Estimate& estimate = *figure.estimate;
  of(figure, "", "").add(labels, estimate.value);
  if (!estimate.low || !estimate.high) return;
  of(figure, "_low", ", lower end of the 95 % interval").add(labels, *estimate.low);
  of(figure, "_high", ", upper end of the 95 % interval").add(labels, *estimate.high);
}

std::string FigureGauges::text() const {
  std::string text;
  for (const Gauge& gauge : gauges_) text += gauge.text();
  return text;
}

Gauge& FigureGauges::of(const Figure& figure, const std::string& part, const std::string& meaning) {
  const std::string unit = figure.unit.name();
  const std::string name =
      fmt::format("{}_{}{}{}{}", prefix_, figure.key, part, unit.empty() ? "" : "_", unit);
  const auto [known, is_new] = index_.try_emplace(name, gauges_.size());
  if (is_new) gauges_.emplace_back(name, unit, fmt::format("{}{}.", figure.key, meaning));
  return gauges_[known->second];
}

Gauge::Gauge(std::string name, const std::string& unit, const std::string& help)
    : name_(std::move(name)) {
  text_ = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help);
  // To Prometheus' older format a comment.
  if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name_, unit);
}

void Gauge::add(const MetricLabels& labels, double value) {
  std::string all;
  for (const auto& [name, text] : labels)
    all += fmt::format("{}{}=\"{}\"", all.empty() ? "" : ",", name, escaped(text));
  text_ += fmt::format("{}{} {}\n", name_, all.empty() ? "" : "{" + all + "}", value);
  empty_ = false;
}

std::string report_openmetrics(const RunReport& report) {
  std::string text = figures_text(report);
  const MetricLabels command{{"command", report.command}};
  const auto with = [&](const char* name, const std::string& value) {
    MetricLabels labels = command;
    labels.emplace_back(name, value);
    return labels;
  };
  std::map<std::string, int> statuses, codes;
  for (const ScenarioResult& one : report.scenarios) ++statuses[name_of(one.status)];
  for (const Warning& warning : report.warnings) ++codes[warning.code];
  Gauge cases("numatlas_cases", "", "Cases of the last run by status.");
  for (const auto& [status, count] : statuses) cases.add(with("status", status), count);
  Gauge warnings("numatlas_warnings", "", "Warnings of the last run by code.");
  for (const auto& [code, count] : codes) warnings.add(with("code", code), count);
  Gauge complete("numatlas_complete", "", "1 where the last run came to its end.");
  complete.add(command, report.complete ? 1 : 0);
  text += cases.text() + warnings.text() + complete.text();
  if (const auto started = unix_seconds(report.started)) {
    Gauge ended("numatlas_last_run_seconds", "seconds",
                "When the last run ended, in seconds since 1970 (UTC).");
    ended.add(command, static_cast<double>(*started) + report.seconds);
    text += ended.text();
  }
  return text + "# EOF\n";
}

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

Reporter openmetrics_reporter() {
  return {"openmetrics",
          [](const RunReport& report, const TextStyle&) { return report_openmetrics(report); }};
}

}  // namespace numatlas

#include "report/openmetrics.h"

#include <algorithm>
#include <array>
#include <cctype>
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

#include "base/text.h"
#include "record/labels.h"

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

/// Labels of cases that say what was found and not what was asked: a series would end where they
/// change, and another begin.
bool is_found(const std::string& name, const std::string& value) {
  constexpr std::array<std::string_view, 12> found{"shown",    "against", "since",   "evidence",
                                                   "verdict",  "reason",  "doubt",   "change",
                                                   "interval", "remark",  "base_is", "new_is"};
  return std::ranges::find(found, name) != found.end() ||
         (name == "finding" && (value == "none" || value == "normal"));
}

/// That all series of a run have, those of `host`.
MetricLabels labels_of(const RunReport& report, const std::string& host, const MetricLabels& more) {
  MetricLabels labels{{"command", report.command}, {"host", host}};
  if (const std::string options = options_text(report); !options.empty())
    labels.emplace_back("options", options);
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

std::string everywhere(const RunReport& report) {
  return report.hosts.size() == 1 ? report.hosts.front() : "all";
}

/// What tells a case from the others, of any benchmark.
MetricLabels labels_of(const RunReport& report, const Case& one, const std::string& host,
                       const MetricLabels& more) {
  const std::string* const own = find_label(one, "host");
  MetricLabels labels = labels_of(report, own == nullptr || own->empty() ? host : *own, {});
  if (!one.kernel.empty()) labels.emplace_back("kernel", one.kernel);
  if (one.size.value > 0) labels.emplace_back("size_bytes", std::to_string(one.size.value));
  for (const auto& [name, value] :
       {std::pair("pages", one.pages), {"stores", one.stores}, {"order", one.order}}) {
    if (!value.empty()) labels.emplace_back(name, value);
  }
  const auto add_new = [&](const std::string& name, const std::string& value) {
    if (std::ranges::find(labels, name, &MetricLabels::value_type::first) == labels.end())
      labels.emplace_back(name, value);
  };
  for (const auto& [name, value] : one.labels)
    if (!value.empty() && !is_found(name, value)) add_new(name, value);
  // Its own tell it from other cases.
  for (const auto& [name, value] : more) add_new(name, value);
  return labels;
}

MetricLabels labels_of(const RunReport& report, const FigureItem& item, const MetricLabels& more) {
  const auto host = [&](int index) { return report.hosts[static_cast<std::size_t>(index)]; };
  if (item.host != nullptr) return labels_of(report, *item.one, host(item.host->host), more);
  if (item.flow == nullptr) return labels_of(report, *item.one, everywhere(report), more);
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(item.flow->worker)];
  MetricLabels labels = labels_of(report, *item.one, host(worker.host), more);
  labels.emplace_back("rank", std::to_string(worker.rank));
  labels.emplace_back("thread", std::to_string(worker.thread));
  if (worker.cpu_node.value >= 0)
    labels.emplace_back("worker_cpu_node", std::to_string(worker.cpu_node.value));
  labels.emplace_back("observed_memory_node", memory_node_text(*item.flow));
  return labels;
}

/// Whether another figure says the same: of one host that of all, of workers the sum.
bool is_told(const RunReport& report, const FigureItem& item) {
  if (item.host != nullptr)
    return report.hosts.size() == 1 && find_total(*item.one, item.figure->key) != nullptr;
  return item.flow != nullptr && find_total(*item.one, "bandwidth_sum") != nullptr &&
         find_figure(*item.flow, "bandwidth") != nullptr;
}

std::string figures_text(const RunReport& report, const MetricLabels& more) {
  FigureGauges gauges;
  for (const Case& one : report.cases) {
    // What `check` found normal is no figure of a slow host; host_low says what is not.
    if (label_of(one, "finding") == "normal") continue;
    for (const FigureItem& item : figures_of(one))
      if (!is_told(report, item)) gauges.add(*item.figure, labels_of(report, item, more));
  }
  return gauges.text();
}

/// What a figure is, in words: HELP must be the same in all files.
std::string help_of(const std::string& key) {
  static const std::map<std::string_view, const char*> words{
      {"latency", "Time of one load"},
      {"latency_added", "Latency above that without a load"},
      {"bandwidth", "Bytes per second, as STREAM counts them"},
      {"traffic", "Bytes per second that memory moved, with reads for ownership"},
      {"copy_rate", "Bytes copied per second"},
      {"copy_latency", "Time of one copy"},
      {"accesses", "Accesses per second"},
      {"operations", "Operations per second"},
      {"rate_asked", "Bytes per second that the load was held to"},
      {"reached_share", "Part of the rate asked that a load reached"},
      {"neighbour_slowdown", "Times as slow as without a load on the other memory"},
      {"slowdown", "Part by which a program is slower than without a load, on its own memory"},
      {"far_share", "Part of a program's pages that are on a second memory"},
      {"cpus_busy", "CPUs that a load kept busy"},
      {"cpus_taken", "CPUs that a load had work for and did not have"},
      {"best_share", "Part of the highest bandwidth of the run"},
      {"used_share", "Part of each line that an access uses"},
      {"core_to_core", "Half of the round trip of a line between two CPUs"},
      {"pass_size", "Bytes of one process in one pass, as STREAM counts them"},
      {"pass_traffic", "Bytes of one process in one pass that memory moved"},
      {"value", "Figure of a case that is slower than it should be"},
      {"reference", "What that figure was expected to be"},
      {"change", "The figure over what it is compared with, less 1"},
      {"deviations", "How far it lies from there, in scaled median absolute deviations"},
      {"base", "Figure of a case on the side compared with"},
      {"new", "Figure of a case on the side that is compared"},
      {"p", "Chance of such a change where nothing changed"},
      {"contradicted", "1 where a claim is contradicted, 0 where it is confirmed"},
      {"claimed", "What firmware or kernel claims"},
      {"measured", "What a claim was held against"},
      {"failed", "1 where a check of selftest failed, else 0"},
      {"took", "Time that a check of selftest took"},
      {"host_judged", "1 where the host was judged, else 0"},
      {"host_slow", "1 where the host is slower than others of its kind, else 0"},
      {"host_fell",
       "1 where the host is slower than it was, else 0; 0 too where it is slow among its kind"},
      {"host_low", "1 where a figure is below what others published of such machines, else 0"},
      {"host_below", "1 where the host misses a limit that was asked for, else 0"},
      {"host_against_peers", "1 where the host was held against others of its kind, else 0"},
      {"host_against_past", "1 where it was held against its own earlier runs, else 0"},
      {"host_against_known", "1 where it was held against what is known of such machines, else 0"},
      {"host_against_expected", "1 where it was held against --expect, else 0"},
      {"host_unreliable", "1 where other programs disturbed its newest run too much, else 0"},
      {"host_incomplete", "1 where its newest run did not run to its end, else 0"},
      {"host_runs", "Runs of the host that were compared with those of others"},
      {"host_slow_runs", "Runs of the host that were slower than those of others"},
      {"host_newest_run", "When the newest run of the host began, in seconds since 1970 (UTC)"}};
  if (const auto known = words.find(key); known != words.end()) return known->second;
  if (key.ends_with("_sum"))
    return help_of(key.substr(0, key.size() - 4)) + ", of all workers together";
  std::string text = key;
  std::ranges::replace(text, '_', ' ');
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
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
  if (is_new) gauges_.emplace_back(name, unit, fmt::format("{}{}.", help_of(figure.key), meaning));
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

std::string report_openmetrics(const RunReport& report, const MetricLabels& more) {
  std::string text = figures_text(report, more);
  const MetricLabels run = labels_of(report, everywhere(report), more);
  const auto with = [&](const char* name, const std::string& value) {
    MetricLabels labels = run;
    labels.emplace_back(name, value);
    return labels;
  };
  std::map<std::string, int> statuses, codes;
  for (const Case& one : report.cases) ++statuses[name_of(one.status)];
  for (const Warning& warning : report.warnings) ++codes[warning.code];
  Gauge cases("numatlas_cases", "", "Cases of the last run by status.");
  for (const auto& [status, count] : statuses) cases.add(with("status", status), count);
  Gauge warnings("numatlas_warnings", "", "Warnings of the last run by code.");
  for (const auto& [code, count] : codes) warnings.add(with("code", code), count);
  Gauge complete("numatlas_complete", "", "1 where the last run came to its end.");
  complete.add(run, report.complete ? 1 : 0);
  Gauge unreliable("numatlas_unreliable", "",
                   "1 where other programs disturbed the last run too much, else 0.");
  unreliable.add(run, report.trust == "unreliable" ? 1 : 0);
  text += cases.text() + warnings.text() + complete.text() + unreliable.text();
  if (const auto started = unix_seconds(report.started)) {
    Gauge ended("numatlas_last_run_seconds", "seconds",
                "When the last run ended, in seconds since 1970 (UTC).");
    ended.add(run, static_cast<double>(*started) + report.seconds);
    text += ended.text();
  }
  return text + "# EOF\n";
}

Expected<MetricLabels> parse_labels(const std::string& text) {
  MetricLabels labels;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at), name = word.substr(0, word.find('='));
    at = end + 1;
    const auto refuse = [&](const std::string& why) {
      return fail(ErrorKind::usage, why, "write NAME=VALUE, as rack=3,site=north");
    };
    if (name == word || name.size() + 1 == word.size())
      return refuse(fmt::format("'{}' is not NAME=VALUE", printable(word)));
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    const bool is_name = !name.empty() && std::ranges::all_of(name, fits) &&
                         std::isalpha(static_cast<unsigned char>(name.front()));
    if (!is_name)
      return refuse(
          fmt::format("'{}' is no name of a label (letters, digits and _)", printable(name)));
    for (const char* own : {"command", "host", "options", "kernel", "size_bytes", "pages", "stores",
                            "order", "rank", "thread", "worker_cpu_node", "observed_memory_node"})
      if (name == own) return refuse(fmt::format("series have a label '{}' already", name));
    if (std::ranges::find(labels, name, &MetricLabels::value_type::first) != labels.end())
      return refuse(fmt::format("'{}' stands twice", name));
    labels.emplace_back(name, word.substr(name.size() + 1));
  }
  return labels;
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

}  // namespace numatlas

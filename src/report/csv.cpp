#include "report/csv.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/add_once.h"
#include "record/labels.h"

namespace numatlas {
namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

/// That of a figure: times since 1970 are whole seconds.
std::string value_text(const Figure& figure) {
  constexpr double longest_duration = 1e8;
  const std::optional<double> value = figure.value();
  const bool is_date = value && *value > longest_duration && figure.unit == Unit("s");
  return is_date ? fmt::format("{:.0f}", *value) : number(value);
}

/// "value,n,ci95_low,ci95_high,p5,...": the interval is the estimate's.
std::string figure_fields(const Figure& figure) {
  const auto part = [&](std::optional<double> Estimate::*end) {
    return figure.estimate ? number((*figure.estimate).*end) : "";
  };
  const std::string known = fmt::format("{},{},{},{}", value_text(figure),
                                        figure.summary ? std::to_string(figure.summary->n) : "",
                                        part(&Estimate::low), part(&Estimate::high));
  const auto& s = figure.summary;
  if (!s) return known + ",,,,,,,,,";
  return fmt::format("{},{},{},{},{},{},{},{},{},{}", known, number(s->p5), number(s->p25),
                     number(s->p75), number(s->p95), number(s->p99), number(s->min), number(s->max),
                     number(s->mean), number(s->mad));
}

/// "order,stride,kernel,stores": of a flow or of a whole case.
std::string kernel_fields(const std::string& order, Bytes stride, const std::string& kernel,
                          const std::string& stores) {
  return fmt::format("{},{},{},{}", order, order.empty() ? "" : std::to_string(stride.value),
                     kernel, stores);
}

/// The same of a flow, and "role,rate".
std::string flow_fields(const FlowResult& flow) {
  return fmt::format("{},{},{}",
                     kernel_fields(flow.order, flow.stride, full_name(flow), flow.stores),
                     flow.load ? "load" : "measured", number(flow.rate));
}

/// Heads of the labels of all cases, behind `common` columns.
std::string label_heads(const std::vector<std::string>& labels, const std::string& common) {
  std::string text;
  for (const std::string& name : labels) {
    const bool is_taken = ("," + common + ",").find("," + name + ",") != std::string::npos;
    text += "," + csv_field((is_taken ? "label_" : "") + name);
  }
  return text + "\n";
}

std::string label_fields(const std::vector<std::string>& labels, const Case& scenario) {
  std::string fields;
  for (const std::string& name : labels) fields += "," + csv_field(label_of(scenario, name));
  return fields + "\n";
}

/// Of a command that judges: a row for each figure of what it found. No worker has any.
std::string judged_csv(const RunReport& report, const std::vector<std::string>& labels) {
  const std::string common = "status,metric,unit,value,ci95_low,ci95_high";
  std::string text = common + label_heads(labels, common);
  for (const Case& one : report.cases) {
    for (const Figure& figure : one.figures) {
      const Estimate estimate = figure.estimate.value_or(Estimate{});
      text +=
          fmt::format("{},{},{},{},{},{}", name_of(one.status), figure.key, figure.unit.symbol(),
                      value_text(figure), number(estimate.low), number(estimate.high)) +
          label_fields(labels, one);
    }
  }
  return text;
}

/// Of what several flows made together, or of a flow; but for the labels of its case.
std::string figure_row(const RunReport& report, const FigureItem& item) {
  const Case& one = *item.one;
  const auto row = [&](const std::string& who, const std::string& memory, Bytes size,
                       const std::string& pages, const std::string& did, std::size_t workers,
                       const std::string& how) {
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", who, memory, size.value, one.pages,
                       pages, did, workers, name_of(one.status), how, item.figure->key,
                       item.figure->unit.symbol(), figure_fields(*item.figure));
  };
  if (item.flow != nullptr) {
    const FlowResult& flow = *item.flow;
    const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
    const std::string cpu = flow.cpu_after ? std::to_string(flow.cpu_after->value) : "";
    const std::string node = worker.cpu_node.value < 0 ? "" : to_list(NodeSet{worker.cpu_node});
    return row(fmt::format("{},{},{},{},{}",
                           csv_field(report.hosts[static_cast<std::size_t>(worker.host)]),
                           worker.rank, worker.thread, cpu, node),
               csv_field(memory_node_text(flow)) + "," + csv_field(flow.memory), flow.size,
               csv_field(observed_memory(flow).page_text()), flow_fields(flow), one.flows.size(),
               fmt::format("{},{},{}", flow.stop, number(half_width(flow)), number(flow.overlap)));
  }
  std::string host = "all";
  std::size_t workers = one.flows.size();
  if (item.host != nullptr) {
    const auto index = static_cast<std::size_t>(item.host->host);
    host = csv_field(report.hosts[index]);
    workers = static_cast<std::size_t>(
        report.host_rows.empty()
            ? std::ranges::count(one.flows, item.host->host,
                                 [&](const FlowResult& flow) { return host_of(report, flow); })
            : report.host_rows[index].workers);
  }
  return row(host + ",,,,", ",", one.size, "",
             kernel_fields(one.order, one.stride, one.kernel, one.stores) + ",,", workers, ",,");
}

}  // namespace

std::string csv_field(const std::string& text) {
  // Spreadsheets calculate what begins so (OWASP, "CSV injection"). Numbers may, and a lone dash
  // stands for nothing.
  const bool formula = !text.empty() && text != "-" &&
                       std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  const std::string safe = formula && !is_number(text) ? "'" + text : text;
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string tidy_csv(const RunReport& report) {
  // The labels of the cases, of all of them, follow the columns that every benchmark has.
  std::vector<std::string> labels;
  for (const Case& scenario : report.cases) {
    for (const auto& [name, value] : scenario.labels) add_once(labels, name);
  }
  if (report.workers.empty() && !report.answer.empty()) return judged_csv(report, labels);
  const std::string common =
      "host,rank,thread,cpu,cpu_node,memory_node,memory,size_bytes,pages_asked,pages_observed,"
      "order,stride,kernel,stores,role,rate,workers,status,stop,half_width,overlap,metric,unit,"
      "value,n,ci95_low,ci95_high,p5,p25,p75,p95,p99,min,max,mean,mad";
  std::string text = common + label_heads(labels, common);
  for (const Case& one : report.cases) {
    std::vector<FigureItem> items = figures_of(one);
    std::stable_partition(items.begin(), items.end(),
                          [](const FigureItem& item) { return item.flow != nullptr; });
    const std::string its_labels = label_fields(labels, one);
    for (const FigureItem& item : items) text += figure_row(report, item) + its_labels;
  }
  return text;
}

}  // namespace numatlas

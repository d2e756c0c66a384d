#include "record/report_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "record/labels.h"
#include "record/report_fields.h"

namespace numatlas {
namespace {

using fields::Place;
using nlohmann::json;

Expected<void> check_views(const RunReport& report) {
  for (std::size_t i = 0; i < report.views.size(); ++i) {
    const View& view = report.views[i];
    const bool is_figure =
        std::ranges::any_of(view.cells, [&](const auto& cell) { return cell.figure == view.rows; });
    std::vector<std::string> named{is_figure ? "" : view.rows, view.columns};
    for (const auto& [label, value] : view.where) named.push_back(label);
    for (const ViewColumn& cell : view.cells) named.push_back(cell.label);
    for (const std::string& name : named) {
      if (!name.empty() && !has_label(report, name))
        return fail(
            ErrorKind::usage,
            fmt::format("field 'views[{}]' names the label '{}', which no case has", i, name));
    }
  }
  return {};
}

/// Writes a report, or a case, without its cases and hosts: the values of all of them never stand
/// in memory together.
class HeadWriter : public fields::Writer {
 public:
  using Writer::operator();
  void operator()(const char* name, const std::vector<Case>&, const char* /*help*/) {
    object_[name] = nullptr;
  }
  void operator()(const char* name, const std::vector<HostTotals>&, const char* /*help*/) {
    object_[name] = nullptr;
  }
  void operator()(const char* name, const std::vector<View>&, const char* /*help*/) {
    object_[name] = nullptr;
  }
  void operator()(const char* name, const std::vector<DrawnRow>&, const char* /*help*/) {
    object_[name] = nullptr;
  }
};

/// Reads a case: what its flows have alike stands beside them.
class CaseReader : public fields::Reader {
 public:
  using Reader::operator();
  CaseReader(const json& one, const json& common, const Place& place)
      : Reader(one, place), common_(common), place_(place) {}
  void operator()(const char* name, std::vector<FlowResult>& out, const char* /*help*/) {
    const json* const flows = member(name);
    if (flows == nullptr) return;
    const Place place = place_.at(name);
    if (!flows->is_array()) return place.reject("must be an array");
    out.resize(flows->size());
    for (std::size_t i = 0; i < out.size() && !place.failed(); ++i) {
      const Place of_flow = place.at(i);
      if (!(*flows)[i].is_object()) return of_flow.reject("must be an object");
      Reader reader((*flows)[i], of_flow, &common_);
      list_fields(reader, out[i]);
    }
  }

 private:
  const json& common_;
  const Place& place_;
};

/// A table of a view, that stands `depth` levels deep, each of its rows on a line.
std::string drawn_text(const Drawn& drawn, std::size_t depth) {
  HeadWriter writer;
  list_fields(writer, drawn);
  return pretty_part(writer.take(), depth, {{"rows", [&](std::string& text) {
                                               add_list(text, drawn.rows, depth + 2,
                                                        [](const DrawnRow& row) {
                                                          return json_line(fields::to_json(row));
                                                        });
                                             }}});
}

/// A view with the figures in it.
std::string view_text(const View& view, const std::vector<Drawn>& drawn, std::size_t depth) {
  json value = fields::to_json(view);
  value["drawn"] = nullptr;
  return pretty_part(value, depth, {{"drawn", [&](std::string& text) {
                                       add_list(text, drawn, depth + 2, [&](const Drawn& one) {
                                         return drawn_text(one, depth + 2);
                                       });
                                     }}});
}

json written(const RunReport& report) {
  HeadWriter writer;
  list_fields(writer, report);
  json value = writer.take();
  value["schema_version"] = schema_version;
  value["program"] = "numatlas";
  if (!report.facts.empty())
    value["headlines"] = fields::to_json(headlines_of(std::span(&report, 1), false));
  return value;
}

template <class Writer>
json written(const Case& one) {
  Writer writer;
  list_fields(writer, one);
  json value = writer.take();
  json common = json::object();
  json& flows = value["flows"];
  if (!flows.empty()) {
    common = flows.front();
    common.erase("figures");
    common.erase("worker");
    for (const json& flow : flows)
      for (auto item = common.begin(); item != common.end();)
        item = flow[item.key()] == item.value() ? std::next(item) : common.erase(item);
  }
  for (json& flow : flows)
    for (const auto& [name, item] : common.items()) flow.erase(name);
  value["flow_common"] = std::move(common);
  if (one.flows_text.empty()) value.erase("flows_text");
  return value;
}

/// A case that stands `depth` levels deep, each of its flows and hosts on a line.
std::string case_text(const Case& one, std::size_t depth) {
  const json value = written<HeadWriter>(one);
  return pretty_part(
      value, depth,
      {{"flows",
        [&](std::string& text) { add_list(text, value.at("flows"), depth + 2, json_line); }},
       {"host_figures", [&](std::string& text) {
          add_list(text, one.host_totals, depth + 2,
                   [](const HostTotals& host) { return json_line(fields::to_json(host)); });
        }}});
}

/// A report that stands `depth` levels deep, without the newline. `results`: nullptr for none.
std::string text_at(const RunReport& report, std::size_t depth,
                    const std::vector<RunReport>* results = nullptr) {
  std::optional<fields::ExactNumbers> exact;
  // What is computed from a file of hosts is what was computed here.
  if (!report.host_rows.empty()) exact.emplace();
  json head = written(report);
  std::vector<LongMember> members{
      {"cases",
       [&](std::string& text) {
         add_list(text, report.cases, depth + 2,
                  [&](const auto& one) { return case_text(one, depth + 2); });
       }},
      {"views", [&](std::string& text) {
         const auto drawn = drawn_views(report);
         add_list(text, report.views, depth + 2, [&](const View& one) {
           const auto at = static_cast<std::size_t>(&one - report.views.data());
           return view_text(one, drawn[at], depth + 2);
         });
       }}};
  if (results != nullptr) {
    head["results"] = nullptr;
    members.push_back(results_member(*results));
  }
  return pretty_part(head, depth, members);
}

using nlohmann::json;

struct PassColumn {
  const char* name;
  double PassTimes::*member;
};
constexpr PassColumn pass_columns[] = {{"node", &PassTimes::node},
                                       {"slowest", &PassTimes::slowest},
                                       {"fastest", &PassTimes::fastest},
                                       {"process_sum", &PassTimes::sum},
                                       {"overlap", &PassTimes::overlap}};

}  // namespace

std::string problem_of(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return "has no value";
  if (estimate.low.has_value() != estimate.high.has_value()) return "has half an interval";
  if (estimate.low && !(*estimate.low <= estimate.value && estimate.value <= *estimate.high))
    return "has an interval that excludes its value";
  return "";
}

std::string problem_of(const Distribution& distribution) {
  if (distribution.bins.size() != distribution.counts.size())
    return "has bins and counts that differ";
  const bool ascend = std::ranges::is_sorted(distribution.bins, std::ranges::less_equal());
  return ascend ? "" : "has bins that do not ascend";
}

std::string problem_of(const PilotSeries& pilot) {
  const std::size_t all = pilot.values.size();
  return all > 0 && pilot.start.size() == all && pilot.end.size() == all
             ? ""
             : "has no values, or not as many starts and ends";
}

json to_json(Unit unit) { return fields::to_json(std::string(unit.symbol())); }

void from_json(const json& value, const Place& place, Unit& out) {
  std::string symbol;
  fields::from_json(value, place, symbol);
  if (place.failed()) return;
  const auto unit = Unit::named(symbol);
  if (!unit) return place.reject(fmt::format("'{}' is not a unit of this version", symbol));
  out = *unit;
}

json schema_of(fields::Tag<Unit>) { return schema_of(fields::Tag<std::string>()); }

void from_json(const json& value, const Place& place, Machine& out) {
  auto machine = machine_from_json(value);
  if (!machine) return place.reject("is no machine: " + full_text(machine.error()));
  out = *std::move(machine);
}

void from_json(const json& value, const Place& place, CpuUse& out) {
  if (!value.is_object()) return place.reject("must be an object");
  out = cpu_use_from_json(value);
}

json schema_of(fields::Tag<CpuUse>) {
  json properties = json::object();
  for (const char* name : {"seconds", "cpus", "own", "other_processes", "stolen", "throttled"})
    properties[name] = {{"type", json::array({"number", "null"})}};
  properties["reason"] = {{"type", json::array({"string", "null"})}};
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

json schema_of(fields::Tag<Machine>) { return {{"type", "object"}}; }

json to_json(const Case& one) { return written<fields::Writer>(one); }

void from_json(const json& value, const Place& place, Case& out) {
  if (!value.is_object()) return place.reject("must be an object");
  const auto common = value.find("flow_common");
  if (common == value.end() || !common->is_object())
    return place.at("flow_common").reject("must be an object");
  CaseReader reader(value, *common, place);
  list_fields(reader, out);
}

json schema_of(fields::Tag<Case>) {
  fields::SchemaWriter writer;
  Case one;
  list_fields(writer, one);
  json schema = writer.take();
  json& flow = schema["properties"]["flows"]["items"];
  flow["required"] = {"worker", "figures"};  // the others may be in flow_common
  schema["properties"]["flow_common"] = {{"type", "object"},
                                         {"description", "fields that all flows have alike"},
                                         {"properties", flow["properties"]}};
  schema["required"].push_back("flow_common");
  return schema;
}

std::string json_text(const RunReport& report) { return text_at(report, 0) + '\n'; }

std::string json_text(const RunReport& report, const std::vector<RunReport>& results) {
  return text_at(report, 0, &results) + '\n';
}

LongMember results_member(const std::vector<RunReport>& reports) {
  return {"results", [&](std::string& text) {
            add_list(text, reports, 2, [](const RunReport& report) { return text_at(report, 2); });
          }};
}

Expected<RunReport> report_from_json(const json& value) {
  RunReport report;
  std::optional<fields::Problem> problem;
  fields::from_json(value, Place("", problem), report);
  if (problem)
    return fail(ErrorKind::usage, fmt::format("field '{}' {}", problem->path, problem->why));
  const int workers = static_cast<int>(report.workers.size());
  const int hosts = static_cast<int>(report.hosts.size());
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    if (report.workers[i].host < 0 || report.workers[i].host >= hosts)
      return fail(ErrorKind::usage, fmt::format("field 'workers[{}].host' names no host", i));
  }
  if (!report.host_rows.empty() && report.host_rows.size() != report.hosts.size())
    return fail(
        ErrorKind::usage,
        fmt::format("field 'host_rows' must have one for each of {} hosts", report.hosts.size()));
  for (std::size_t i = 0; i < report.host_rows.size(); ++i) {
    if (report.host_rows[i].kind >= report.machines.size())
      return fail(ErrorKind::usage, fmt::format("field 'host_rows[{}].kind' names no machine", i));
  }
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    for (const HostTotals& totals : report.cases[i].host_totals) {
      if (totals.host < 0 || totals.host >= hosts)
        return fail(ErrorKind::usage,
                    fmt::format("field 'cases[{}].host_figures' names no host", i));
    }
    for (const FlowResult& flow : report.cases[i].flows) {
      if (flow.worker < 0 || flow.worker >= workers)
        return fail(ErrorKind::usage, fmt::format("field 'cases[{}].flows' names no worker", i));
    }
  }
  TRY(check_views(report));
  return report;
}

json report_schema() {
  json schema = fields::schema_of(fields::Tag<RunReport>{});
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Result of a numatlas command";
  schema["properties"]["schema_version"] = {{"const", schema_version}};
  schema["properties"]["program"] = {{"const", "numatlas"}};
  schema["required"].push_back("schema_version");
  schema["required"].push_back("program");
  // Made of the report whenever it is written.
  json& drawn = schema["properties"]["views"]["items"]["properties"]["drawn"];
  drawn = fields::schema_of(fields::Tag<std::vector<Drawn>>{});
  json& headlines = schema["properties"]["headlines"];
  headlines = fields::schema_of(fields::Tag<std::vector<Headline>>{});
  headlines["description"] = "one for each heading of the facts; absent in files without facts";
  drawn["description"] = "its tables with the figures in them; absent in files of numatlas 1";
  return schema;
}

std::string problem_of(const HostRow& row) {
  if (row.first_rank < 0) return "has a first_rank below 0";
  return row.processes < 1 || row.workers < 1 ? "has no processes or no workers" : "";
}

json to_json(const std::vector<PassTimes>& passes) {
  json value = json::object();
  for (const PassColumn& column : pass_columns) {
    json& numbers = value[column.name] = json::array();
    for (const PassTimes& pass : passes) numbers.push_back(fields::to_json(pass.*column.member));
  }
  json& ranks = value["slowest_rank"] = json::array();
  for (const PassTimes& pass : passes) ranks.push_back(pass.slowest_rank);
  return value;
}

void from_json(const json& value, const fields::Place& place, std::vector<PassTimes>& out) {
  out.clear();
  std::vector<int> ranks;
  fields::Reader reader(value, place);
  if (!value.is_object()) return place.reject("must be an object");
  reader("slowest_rank", ranks, "");
  out.resize(ranks.size());
  for (const PassColumn& column : pass_columns) {
    std::vector<double> numbers;
    reader(column.name, numbers, "");
    if (place.failed()) return;
    if (numbers.size() != ranks.size())
      return place.at(column.name).reject("has another length than what stands beside it");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!(numbers[i] >= 0)) return place.at(column.name).reject("must hold numbers of 0 or more");
      out[i].*column.member = numbers[i];
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) out[i].slowest_rank = ranks[i];
}

json schema_of(fields::Tag<std::vector<PassTimes>>) {
  const json numbers{{"type", "array"}, {"items", {{"type", "number"}}}};
  json properties{{"slowest_rank", {{"type", "array"}, {"items", {{"type", "integer"}}}}}};
  json required{"slowest_rank"};
  for (const PassColumn& column : pass_columns) {
    properties[column.name] = numbers;
    required.push_back(column.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

}  // namespace numatlas

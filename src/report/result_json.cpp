#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "machine/source.h"
#include "report/result.h"

namespace numatlas {
namespace {

using nlohmann::json;

// Raised when a field changes its meaning or goes; new fields do not raise it.
constexpr int schema_version = 1;

template <class T>
json optional_json(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}
json optional_json(const std::optional<CpuId>& cpu) {
  return cpu ? json(cpu->value) : json(nullptr);
}

json to_json(const Summary& s) {
  return {{"n", s.n},
          {"median", s.median},
          {"ci95_low", optional_json(s.ci_low)},
          {"ci95_high", optional_json(s.ci_high)},
          {"p5", s.p5},
          {"p25", s.p25},
          {"p75", s.p75},
          {"p95", s.p95},
          {"p99", s.p99},
          {"min", s.min},
          {"max", s.max},
          {"mean", s.mean},
          {"stddev", optional_json(s.stddev)},
          {"mad", s.mad},
          {"outliers", s.outliers}};
}

/// null where there is none.
json optional_json(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }
std::string text_from(const json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<double> number(const json& value) {
  return value.is_number() ? std::optional<double>(value.get<double>()) : std::nullopt;
}

Summary summary_from_json(const json& v) {
  Summary s;
  s.n = v["n"];
  s.median = v["median"];
  s.ci_low = number(v["ci95_low"]);
  s.ci_high = number(v["ci95_high"]);
  s.p5 = v["p5"];
  s.p25 = v["p25"];
  s.p75 = v["p75"];
  s.p95 = v["p95"];
  s.p99 = v["p99"];
  s.min = v["min"];
  s.max = v["max"];
  s.mean = v["mean"];
  s.stddev = number(v["stddev"]);
  s.mad = v["mad"];
  s.outliers = v["outliers"];
  return s;
}

json to_json(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"value", optional_json(metric.value)},
          {"summary", metric.summary ? to_json(*metric.summary) : json(nullptr)}};
}

json to_json(const Residency& r) {
  json nodes = json::object();
  for (const auto& [node, pages] : r.pages_by_node) nodes[std::to_string(node)] = pages;
  return {{"pages_by_node", nodes},
          {"pages_untouched", r.untouched},
          {"pages_unknown", r.errors},
          {"pages_total", r.pages_total},
          {"pages_asked", r.pages_asked},
          {"page_size", r.page_size ? json(r.page_size->value) : json(nullptr)},
          {"thp_fraction", optional_json(r.thp_fraction)},
          {"page_text", r.page_text()},
          {"told_by", optional_json(r.told_by)},
          {"problem", optional_json(r.problem)}};
}

Residency residency_from_json(const json& v) {
  Residency r;
  for (const auto& [node, pages] : v["pages_by_node"].items()) {
    r.pages_by_node[std::stoi(node)] = pages;
  }
  r.untouched = v["pages_untouched"];
  r.errors = v["pages_unknown"];
  r.pages_total = v["pages_total"];
  r.pages_asked = v["pages_asked"];
  if (v["page_size"].is_number()) r.page_size = Bytes{v["page_size"]};
  r.thp_fraction = number(v["thp_fraction"]);
  r.told_by = v.contains("told_by") ? text_from(v["told_by"]) : "";
  r.problem = text_from(v["problem"]);
  return r;
}

json to_json(const GpuResult& gpu) {
  json link = nullptr;
  if (gpu.link) {
    link = {{"speed", optional_json(gpu.link->speed)},
            {"max_speed", optional_json(gpu.link->max_speed)},
            {"width", optional_json(gpu.link->width)},
            {"max_width", optional_json(gpu.link->max_width)}};
  }
  const auto residency = [](const std::optional<Residency>& seen) {
    return seen ? to_json(*seen) : json(nullptr);
  };
  return {{"gpu", gpu.gpu},
          {"direction", optional_json(gpu.direction)},
          {"name", gpu.name},
          {"pci_address", optional_json(gpu.pci_address)},
          {"pinning", optional_json(gpu.pinning)},
          {"caches", optional_json(gpu.caches)},
          {"copies_a_step", gpu.copies_a_step},
          {"loads_a_step", gpu.loads_a_step},
          {"timed_by", gpu.by_events ? "events" : "clock"},
          {"steps", gpu.steps},
          {"clock_error", gpu.clock_error},
          {"residency_before_pinning", residency(gpu.before_pinning)},
          {"residency_after", residency(gpu.after)},
          {"link", std::move(link)},
          {"link_limit", optional_json(gpu.link_limit)},
          {"route", optional_json(gpu.route)}};
}

GpuResult gpu_from_json(const json& v) {
  GpuResult gpu;
  gpu.gpu = v["gpu"];
  gpu.direction = text_from(v["direction"]);
  gpu.name = v["name"];
  gpu.pci_address = text_from(v["pci_address"]);
  gpu.pinning = text_from(v["pinning"]);
  gpu.caches = text_from(v["caches"]);
  gpu.copies_a_step = v["copies_a_step"];
  gpu.loads_a_step = v["loads_a_step"];
  gpu.by_events = v["timed_by"] == "events";
  gpu.steps = v["steps"].get<std::vector<std::pair<std::int64_t, std::int64_t>>>();
  gpu.clock_error = v["clock_error"];
  const auto residency = [](const json& seen) {
    return seen.is_object() ? std::optional(residency_from_json(seen)) : std::nullopt;
  };
  gpu.before_pinning = residency(v["residency_before_pinning"]);
  gpu.after = residency(v["residency_after"]);
  if (const json& link = v["link"]; link.is_object()) {
    const auto lanes = [&](const char* key) {
      return link[key].is_number() ? std::optional(link[key].get<int>()) : std::nullopt;
    };
    gpu.link = PciLink{number(link["speed"]), number(link["max_speed"]), lanes("width"),
                       lanes("max_width")};
  }
  gpu.link_limit = number(v["link_limit"]);
  gpu.route = text_from(v["route"]);
  return gpu;
}

json to_json(const WorkerRow& worker) {
  return {{"rank", worker.rank},
          {"thread", worker.thread},
          {"host", worker.host},
          {"cpus", to_list(worker.cpus)},
          {"cpu_node", worker.cpu_node.value < 0 ? json(nullptr) : json(worker.cpu_node.value)},
          {"memory", worker.memory}};
}

json to_json(const HostTotals& of_host);
json to_json(const ScenarioResult& scenario);

template <class T>
json array_of(const std::vector<T>& items) {
  json array = json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

json to_json(const HostTotals& of_host) {
  return {{"host", of_host.host}, {"totals", array_of(of_host.totals)}};
}

json to_json(const ScenarioResult& scenario) {
  json labels = json::object();
  for (const auto& [name, text] : scenario.labels) labels[name] = text;
  return {{"name", scenario.name},
          {"labels", std::move(labels)},
          {"size", scenario.size.value},
          {"pages", scenario.pages},
          {"order", optional_json(scenario.order)},
          {"stride", scenario.order.empty() ? json(nullptr) : json(scenario.stride.value)},
          {"kernel", scenario.kernel},
          {"stores", optional_json(scenario.stores)},
          {"precision", optional_json(scenario.precision)},
          {"time_cap", optional_json(scenario.time_cap)},
          {"totals", array_of(scenario.totals)},
          {"host_totals", array_of(scenario.host_totals)},
          {"status", name_of(scenario.status)},
          {"reason", optional_json(scenario.reason)},
          {"flows", array_of(scenario.flows)}};
}

}  // namespace

json to_json(const FlowResult& flow) {
  json value = {
      {"worker", flow.worker},
      {"kernel", flow.kernel},
      {"mix", optional_json(flow.mix)},
      {"stores", optional_json(flow.stores)},
      {"order", optional_json(flow.order)},
      {"stride", flow.order.empty() ? json(nullptr) : json(flow.stride.value)},
      {"size", flow.size.value},
      {"memory", flow.memory},
      {"source_memory", optional_json(flow.source_memory)},
      {"metrics", array_of(flow.metrics)},
      {"samples", flow.samples},
      {"stop", flow.stop},
      {"half_width", optional_json(flow.half_width)},
      {"overlap", optional_json(flow.overlap)},
      {"address", fmt::format("{:#x}", flow.address)},
      {"cpu_before", optional_json(flow.cpu_before)},
      {"cpu_after", optional_json(flow.cpu_after)},
      {"level", flow.level},
      {"residency", to_json(flow.residency)},
      {"source_residency", flow.source_residency ? to_json(*flow.source_residency) : json(nullptr)},
      {"role", flow.load ? "load" : "measured"},
      {"rate", optional_json(flow.rate)},
      {"first_touch", optional_json(flow.first_touch)},
      {"policy", {{"mechanism", flow.policy.mechanism}, {"note", flow.policy.note}}},
      {"together", flow.together},
      {"stretch_bytes", flow.stretch_bytes},
      {"wrong", flow.wrong ? json(flow.wrong->message) : json(nullptr)},
      {"steps_a_sample", flow.steps_a_sample},
      {"warm_up_steps", flow.warm_up_steps},
      {"involuntary_switches", flow.involuntary_switches},
      {"timer_overhead", flow.timer_overhead},
      {"start_lateness", flow.start_lateness},
      {"prepare_time", flow.prepare_time},
      {"warnings", flow.warnings}};
  // Most flows have neither.
  if (flow.gpu) value["gpu"] = to_json(*flow.gpu);
  if (flow.wrong) {
    value["wrong_kind"] = static_cast<int>(flow.wrong->kind);
    value["wrong_hint"] = flow.wrong->hint;
  }
  return value;
}

FlowResult flow_from_json(const json& v) {
  FlowResult flow;
  flow.worker = v["worker"];
  flow.kernel = v["kernel"];
  flow.mix = text_from(v["mix"]);
  flow.stores = text_from(v["stores"]);
  flow.order = text_from(v["order"]);
  if (v["stride"].is_number()) flow.stride = Bytes{v["stride"]};
  flow.size = Bytes{v["size"]};
  flow.memory = v["memory"];
  flow.source_memory = text_from(v["source_memory"]);
  for (const json& m : v["metrics"]) {
    Metric metric{m["name"], m["unit"], number(m["value"]), std::nullopt};
    if (m["summary"].is_object()) metric.summary = summary_from_json(m["summary"]);
    flow.metrics.push_back(std::move(metric));
  }
  flow.samples = v["samples"].get<std::vector<double>>();
  flow.stop = v["stop"];
  flow.half_width = number(v["half_width"]);
  flow.overlap = number(v["overlap"]);
  flow.address = std::stoull(v["address"].get<std::string>(), nullptr, 16);
  if (v["cpu_before"].is_number()) flow.cpu_before = CpuId{v["cpu_before"]};
  if (v["cpu_after"].is_number()) flow.cpu_after = CpuId{v["cpu_after"]};
  flow.level = v["level"];
  flow.residency = residency_from_json(v["residency"]);
  if (v["source_residency"].is_object())
    flow.source_residency = residency_from_json(v["source_residency"]);
  flow.load = v["role"] == "load";
  flow.rate = number(v["rate"]);
  if (v["first_touch"].is_number()) flow.first_touch = v["first_touch"].get<int>();
  flow.policy = {v["policy"]["mechanism"], v["policy"]["note"]};
  flow.together = v["together"];
  flow.stretch_bytes = v["stretch_bytes"].get<std::vector<double>>();
  if (v["wrong"].is_string()) {
    flow.wrong =
        Error{static_cast<ErrorKind>(v["wrong_kind"].get<int>()), v["wrong"], v["wrong_hint"]};
  }
  if (v.contains("gpu")) flow.gpu = gpu_from_json(v["gpu"]);
  flow.steps_a_sample = v["steps_a_sample"];
  flow.warm_up_steps = v["warm_up_steps"];
  flow.involuntary_switches = v["involuntary_switches"];
  flow.timer_overhead = v["timer_overhead"];
  flow.start_lateness = v["start_lateness"];
  flow.prepare_time = v["prepare_time"];
  flow.warnings = v["warnings"].get<std::vector<std::string>>();
  return flow;
}

json to_json(const RunReport& report) {
  return {{"schema_version", schema_version},
          {"program", "numatlas"},
          {"version", report.version},
          {"command", report.command},
          {"arguments", report.arguments},
          {"started", report.started},
          {"seconds", report.seconds},
          {"complete", report.complete},
          {"incomplete_reason", optional_json(report.incomplete_reason)},
          {"comm", report.comm},
          {"engine", report.engine},
          {"isa", report.isa},
          {"ranks", report.ranks},
          {"serial", report.serial},
          {"seed", report.seed},
          {"precision", report.precision},
          {"time_cap", report.time_cap},
          {"time_of_all", report.time_of_all},
          {"with_samples", report.with_samples},
          {"hosts", report.hosts},
          {"machines", array_of(report.machines)},
          {"workers", array_of(report.workers)},
          {"scenarios", array_of(report.scenarios)},
          {"warnings", report.warnings}};
}

std::string json_text(const RunReport& report) {
  return to_json(report).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace numatlas

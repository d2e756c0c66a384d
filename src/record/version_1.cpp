// Version 1 had flows with raw samples and metrics without intervals; this is where their intervals
// are made, as version 1's readers made them.
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "record/report_fields.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;

Summary summary_of(const json& v) {
  Summary s;
  std::optional<record::Problem> problem;
  json value = v;
  record::from_json(value, record::Place("summary", problem), s);
  const auto number = [&](const char* name) {
    return v.contains(name) && v[name].is_number() ? std::optional(v[name].get<double>())
                                                   : std::nullopt;
  };
  s.ci_low = number("ci95_low");
  s.ci_high = number("ci95_high");
  return s;
}

/// What other figures are times, or divided into, a constant of the case.
struct Derivation {
  const char *figure, *from;
  bool divided;
};
constexpr Derivation derivations[] = {
    {"traffic", "bandwidth", false},       {"access_time", "bandwidth", true},
    {"pass_time", "bandwidth", true},      {"traffic_sum", "bandwidth_sum", false},
    {"link_part", "bandwidth_sum", false}, {"event_bandwidth", "copy_time", true},
    {"copy_rate", "bandwidth_sum", false}};

Estimate derived(const std::string& name, double value, const std::vector<Figure>& before) {
  for (const Derivation& rule : derivations) {
    const Figure* from = name == rule.figure ? find_figure(before, rule.from) : nullptr;
    if (from == nullptr || !from->estimate || !(from->estimate->value > 0)) continue;
    return rule.divided ? divided_into(value * from->estimate->value, *from->estimate)
                        : as_sure_as(value, *from->estimate);
  }
  return value;
}

/// `width`: what the stop rule reached, of a flow's first metric; `sum`: over stretches.
std::vector<Figure> figures_of(const json& metrics, const std::optional<double>& width, bool sum) {
  std::vector<Figure> figures;
  for (const json& metric : metrics) {
    Figure figure{metric.at("name"), metric.at("unit"), std::nullopt, std::nullopt};
    const json summary = metric.value("summary", json(nullptr));
    if (summary.is_object()) figure.summary = summary_of(summary);
    if (metric.at("value").is_number()) {
      const double value = metric["value"];
      const auto half = figures.empty() ? width : std::nullopt;
      if (!figure.summary)
        figure.estimate = derived(figure.key, value, figures);
      else if (sum)
        figure.estimate = estimate_of_stretches(*figure.summary);
      else
        figure.estimate = estimate_of_median(*figure.summary, half);
      // A GPU's copies have the mean, and their interval is that of the median.
      if (figure.estimate->value != value) figure.estimate = as_sure_as(value, *figure.estimate);
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

json warnings_of(const json& texts, const std::string& where) {
  json warnings = json::array();
  for (const json& text : texts)
    warnings.push_back({{"code", "version-1"},
                        {"where", where.empty() ? json(nullptr) : json(where)},
                        {"text", text}});
  return warnings;
}

/// Version 1 said "ordinary" of stores that write-allocate.
void rename_stores(json& labels) {
  if (labels.is_object() && labels.value("stores", json(nullptr)) == "ordinary")
    labels["stores"] = "regular";
}

json flow_of(json flow) {
  rename_stores(flow);
  std::optional<double> width;
  if (flow.value("half_width", json(nullptr)).is_number()) width = flow["half_width"];
  flow["figures"] = record::to_json(figures_of(flow.at("metrics"), width, false));
  for (const char* name : {"metrics", "samples", "stretch_bytes", "half_width"}) flow.erase(name);
  flow["load"] = flow.value("role", "") == "load";
  flow.erase("role");
  flow["address"] = std::stoull(flow.value("address", "0x0"), nullptr, 16);
  if (!flow.contains("pauses")) flow["pauses"] = json::array();
  flow["warnings"] = warnings_of(flow.value("warnings", json::array()), "");
  if (flow.value("wrong", json(nullptr)).is_string()) {
    flow["wrong"] = {{"kind", "internal"},
                     {"message", flow["wrong"]},
                     {"hint", flow.value("wrong_hint", json(nullptr))}};
  }
  if (flow.value("gpu", json(nullptr)).is_object()) {
    flow["gpu"].erase("steps");
    flow["gpu"].erase("timed_by");
  } else {
    flow["gpu"] = nullptr;
  }
  for (const char* name : {"residency", "source_residency"}) {
    if (flow.value(name, json(nullptr)).is_object() && !flow[name].contains("told_by"))
      flow[name]["told_by"] = nullptr;
  }
  return flow;
}

json case_of(json one) {
  rename_stores(one);
  one["figures"] = record::to_json(figures_of(one.value("totals", json::array()), {}, true));
  json hosts = json::array();
  for (const json& host : one.value("host_totals", json::array())) {
    hosts.push_back({{"host", host.at("host")},
                     {"figures", record::to_json(figures_of(host.at("totals"), {}, true))}});
  }
  one["host_figures"] = std::move(hosts);
  one["groups"] = json::array();
  json flows = json::array();
  for (const json& flow : one.at("flows")) flows.push_back(flow_of(flow));
  one["flows"] = std::move(flows);
  one["flow_common"] = json::object();
  one["distribution"] = record::to_json(Distribution{});
  one.erase("totals");
  one.erase("host_totals");
  return one;
}

json hosts_of(json hosts) {
  for (json& host : hosts) {
    host["warnings"] = warnings_of(host.at("warnings"), "");
    for (json& rounds : host.at("rounds")) {
      // Absent from the first files.
      if (!rounds.contains("start")) rounds["start"] = json(rounds.at("node").size(), -1);
    }
    for (const char* name : {"processes", "summaries"})
      if (!host.contains(name)) host[name] = json::array();
    if (!host.contains("cpu_use")) host["cpu_use"] = nullptr;
  }
  return hosts;
}

/// STREAM over hosts: its rounds stood at the top. The cases are made of these by whoever reads it.
json fleet_of(json value) {
  json hosts = hosts_of(value.at("hosts"));
  json& fleet = value["fleet"] = json::object();
  for (const char* name :
       {"elements", "elements_source", "repeats", "memory", "kernels", "kinds"}) {
    fleet[name] = value.at(name);
    value.erase(name);
  }
  for (json& kernel : fleet["kernels"]) rename_stores(kernel);
  fleet["clock_error"] = value.value("clock_error", 0.0);
  fleet["slow"] = nullptr;
  fleet["retest"] = value.at("retest");
  if (fleet["retest"].is_object()) fleet["retest"]["hosts"] = hosts_of(fleet["retest"].at("hosts"));
  json names = json::array();
  for (const json& host : hosts) names.push_back(host.at("name"));
  fleet["hosts"] = std::move(hosts);
  value["hosts"] = std::move(names);
  value["warnings"] = warnings_of(value.at("warnings"), "");
  for (const char* name : {"clock_error", "retest", "slow", "not_judged"}) value.erase(name);
  value["serial"] = false;
  value["time_of_all"] = false;
  for (const char* name : {"seed", "precision", "time_cap"}) value[name] = 0;
  for (const char* name : {"cpu_use", "workers", "cases", "views", "facts"})
    value[name] = json::array();
  value["schema_version"] = schema_version;
  return value;
}

/// What a survey said; of which benchmark it is not known.
json facts_of(const json& summary) {
  json facts = json::array();
  for (json fact : summary) {
    Estimate estimate = fact.at("value").get<double>();
    if (fact.at("low").is_number()) estimate.low = fact["low"];
    if (fact.at("high").is_number()) estimate.high = fact["high"];
    for (const char* name : {"value", "low", "high"}) fact.erase(name);
    if (fact.contains("where")) rename_stores(fact["where"]);
    fact["estimate"] = record::to_json(estimate);
    fact["heading"] = fact["line"] = nullptr;
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace

Expected<json> from_version_1(const json& report) {
  try {
    json value = report;
    if (report.contains("results")) {  // of a survey
      for (json& part : value["results"]) {
        if (!part.contains("machines")) part["machines"] = json::array({report.at("machine")});
        auto converted = from_version_1(part);
        if (!converted) return converted;
        part = *std::move(converted);
      }
      if (!value["results"].empty())
        value["results"][0]["facts"] = facts_of(report.value("summary", json::array()));
      value.erase("summary");
      value["schema_version"] = schema_version;
      return value;
    }
    if (report.value("command", "") == "stream") return fleet_of(std::move(value));
    if (!report.contains("scenarios")) return value;  // a snapshot: as it was
    json cases = json::array();
    for (const json& one : report.at("scenarios")) cases.push_back(case_of(one));
    value["cases"] = std::move(cases);
    value["views"] = json::array();
    value["facts"] = json::array();
    if (!value.contains("cpu_use")) value["cpu_use"] = json::array();
    value["warnings"] = warnings_of(report.value("warnings", json::array()), "");
    value["schema_version"] = schema_version;
    value.erase("scenarios");
    value.erase("with_samples");
    return value;
  } catch (const std::exception& error) {
    // nlohmann's messages begin with "[json.exception.NAME.NUMBER] ".
    const std::string text = error.what();
    const auto end = text.starts_with("[json.exception") ? text.find("] ") : std::string::npos;
    return fail(ErrorKind::usage, "is a damaged result of numatlas 0.1: " +
                                      (end == std::string::npos ? text : text.substr(end + 2)));
  }
}

}  // namespace numatlas

#include "survey/summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/worker_table.h"
#include "survey/facts.h"

namespace numatlas {
namespace {

using Facts = std::vector<SurveyFact> (*)(const RunReport&);

const std::map<std::string, Facts>& facts_by_benchmark() {
  static const std::map<std::string, Facts> facts{
      {"matrix", matrix_facts}, {"latency", latency_facts}, {"bandwidth", bandwidth_facts},
      {"loaded", loaded_facts}, {"cores", cores_facts},     {"copy", copy_facts},
      {"touch", touch_facts},   {"weights", weights_facts}, {"transfer", transfer_facts}};
  return facts;
}

/// 0: memory or workers are not where they should be; 1: something else was at work; 2: the rest.
int rank_of(const Warning& warning) {
  constexpr std::array<std::string_view, 5> of_placement{
      "placement", "placement-method", "memory-not-local", "cpu-outside", "memory-moved"};
  constexpr std::array<std::string_view, 7> of_interference{
      "low-overlap", "workers-waited",    "oversubscribed", "setting",
      "stopped",     "copies-took-turns", "other-processes"};
  const auto has = [&](const auto& codes) {
    return std::find(codes.begin(), codes.end(), warning.code) != codes.end();
  };
  return has(of_placement) ? 0 : has(of_interference) ? 1 : 2;
}

/// Of all benchmarks, the gravest first. What holds for the machine is the same in each report.
std::vector<std::string> warnings_of(const std::vector<RunReport>& reports) {
  std::vector<Warning> all;
  for (const RunReport& report : reports) {
    for (const Warning& warning : report.warnings) {
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Warning& a, const Warning& b) { return rank_of(a) < rank_of(b); });
  return counted(all);
}

}  // namespace

std::vector<SurveyFact> facts_of(const RunReport& report) {
  const auto facts = facts_by_benchmark().find(report.command);
  return facts == facts_by_benchmark().end() ? std::vector<SurveyFact>{} : facts->second(report);
}

SurveySummary summary_of(const std::vector<RunReport>& reports) {
  SurveySummary summary;
  for (const RunReport& report : reports) {
    for (SurveyFact& fact : facts_of(report)) summary.facts.push_back(std::move(fact));
  }
  summary.warnings = warnings_of(reports);
  return summary;
}

std::string where_of(const SurveyFact& fact, const std::string& name) {
  for (const auto& [label, text] : fact.where) {
    if (label == name) return text;
  }
  return "";
}

nlohmann::json to_json(const SurveyFact& fact) {
  using nlohmann::json;
  json where = json::object();
  for (const auto& [name, text] : fact.where) where[name] = text;
  const auto optional = [](const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
  };
  return {{"key", fact.key},
          {"where", std::move(where)},
          {"words", fact.words},
          {"value", fact.value},
          {"unit", fact.unit},
          {"low", optional(fact.low)},
          {"high", optional(fact.high)}};
}

}  // namespace numatlas

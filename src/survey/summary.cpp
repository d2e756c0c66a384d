#include "survey/summary.h"

#include <algorithm>
#include <array>
#include <map>

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
int rank_of(const std::string& warning) {
  constexpr std::array<const char*, 7> of_placement{
      "placement", "memory local", "pages on", " asked,", "ended on CPU", "of its pages", "policy"};
  constexpr std::array<const char*, 6> of_interference{
      "overlapped", "workers waited", "more workers than CPUs", " = ", "hypervisor", "took turns"};
  const auto has = [&](const char* words) { return warning.find(words) != std::string::npos; };
  if (std::any_of(of_placement.begin(), of_placement.end(), has)) return 0;
  return std::any_of(of_interference.begin(), of_interference.end(), has) ? 1 : 2;
}

/// The same matter of points of several benchmarks ("workers waited: NAMES") once, with the first
/// names.
std::vector<std::string> merged(const std::vector<std::string>& warnings) {
  // Shorter ones are places, which are no matter.
  constexpr std::size_t shortest_matter = 40;
  std::vector<std::string> all;
  std::map<std::string, std::size_t> seen;  // where in `all`
  std::map<std::size_t, std::size_t> more;
  for (const std::string& warning : warnings) {
    const std::size_t end = warning.rfind(": ");
    const bool long_enough = end != std::string::npos && end >= shortest_matter;
    const std::string matter = long_enough ? warning.substr(0, end) : warning;
    const auto [found, is_new] = seen.try_emplace(matter, all.size());
    if (is_new) {
      all.push_back(warning);
    } else {
      ++more[found->second];
    }
  }
  for (const auto& [index, count] : more)
    all[index] += fmt::format(" (and in {} more benchmark{})", count, count == 1 ? "" : "s");
  return all;
}

std::vector<std::string> warnings_of(const std::vector<RunReport>& reports) {
  std::vector<std::string> all;
  for (const RunReport& report : reports) {
    for (const std::string& warning : report.warnings) {
      // How weights are laid out is how their search works, and nothing to warn of.
      const bool of_search =
          report.command == "weights" &&
          (warning.find("pages were touched node by node") != std::string::npos ||
           warning.find("the same as plain interleave") != std::string::npos);
      // What holds for the machine is the same in each report, word by word.
      const bool placed = warning.find(", worker ") != std::string::npos;
      const bool known = !placed && std::find(all.begin(), all.end(), warning) != all.end();
      if (!of_search && !known) all.push_back(warning);
    }
  }
  std::vector<std::string> warnings = merged(counted(all));
  std::stable_sort(
      warnings.begin(), warnings.end(),
      [](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  return warnings;
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

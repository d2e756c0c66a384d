#include "advise/atlas.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/read_file.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;

constexpr const char* option = "--atlas";
constexpr const char* hint = "name a survey.json of `numatlas survey`, or a file that --json wrote";

Expected<void> add_report(const json& value, const std::string& path, Atlas& atlas) {
  const auto report = report_from_json(value);
  if (!report)
    return fail_about(ErrorKind::usage, option,
                      fmt::format("{}: {}", path, full_text(report.error())), hint);
  if (atlas.host.empty() && !report->hosts.empty()) atlas.host = report->hosts.front();
  atlas.facts.insert(atlas.facts.end(), report->facts.begin(), report->facts.end());
  return {};
}

Expected<Atlas> atlas_from(const json& value, const std::string& path) {
  Atlas atlas;
  const auto results = value.is_object() ? value.find("results") : value.end();
  if (results == value.end() || !results->is_array()) {
    if (auto added = add_report(value, path, atlas); !added) return fail(added.error());
    return atlas;
  }
  for (const json& report : *results) {
    if (report.is_object() && report.value("command", json()) == "stream")
      continue;  // not a report
    if (auto added = add_report(report, path, atlas); !added) return fail(added.error());
  }
  return atlas;
}

}  // namespace

const Fact* Atlas::find(const std::string& key,
                        const std::vector<std::pair<std::string, std::string>>& where) const {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) {
    return fact.key == key && std::all_of(where.begin(), where.end(), [&](const auto& label) {
             return where_of(fact, label.first) == label.second;
           });
  });
  return found == facts.end() ? nullptr : &*found;
}

std::optional<double> Atlas::value(
    const std::string& key, const std::vector<std::pair<std::string, std::string>>& where) const {
  const Fact* fact = find(key, where);
  return fact == nullptr ? std::nullopt : std::optional(fact->estimate.value);
}

Expected<Atlas> read_atlas(const std::string& path) {
  const auto content = read_file(path, fmt::format("{} {}", option, path), hint);
  if (!content) return fail(content.error());
  const auto document = parse_json(*content);
  if (!document)
    return fail_about(ErrorKind::usage, option,
                      fmt::format("{}: {}", path, document.error().message), hint);
  return atlas_from(**document, path);
}

std::string claim_text(const NumaNode& node) {
  if (!node.hmat) return "";
  std::string text;
  if (node.hmat->read_latency) text = fmt::format("{:.0f} ns", *node.hmat->read_latency * 1e9);
  if (node.hmat->read_bandwidth)
    text +=
        fmt::format("{}{:.1f} GB/s", text.empty() ? "" : ", ", *node.hmat->read_bandwidth * 1e-9);
  if (text.empty()) return "";
  return fmt::format("memory of node {}: {} (firmware)", node.id.value, text);
}

std::string memory_text(const Atlas* atlas, const Machine& machine, NodeId cpu_node,
                        NodeId memory_node) {
  std::string text;
  if (atlas != nullptr) {
    const std::vector<std::pair<std::string, std::string>> where{
        {"cpu_node", std::to_string(cpu_node.value)},
        {"memory_node", std::to_string(memory_node.value)}};
    if (const auto latency = atlas->value("matrix_latency", where))
      text = fmt::format("{:.0f} ns", *latency * 1e9);
    if (const auto rate = atlas->value("matrix_bandwidth", where))
      text += fmt::format("{}{:.1f} GB/s", text.empty() ? "" : ", ", *rate * 1e-9);
    if (!text.empty())
      return fmt::format("memory of node {} from node {}: {}", memory_node.value, cpu_node.value,
                         text);
  }
  const NumaNode* node = machine.find_node(memory_node);
  return node == nullptr ? "" : claim_text(*node);
}

}  // namespace numatlas

#include "run/host_placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/add_once.h"
#include "record/report_fields.h"

namespace numatlas {

namespace {

using nlohmann::json;

}  // namespace

std::string placement_of_rank(const std::vector<const Trace*>& traces) {
  std::map<int, double> nodes;
  double unknown = 0;
  bool sampled = false;
  std::set<std::string> pages;
  std::vector<Warning> warnings;
  for (const Trace* trace : traces) {
    const Residency& seen = trace->residency;
    const auto all = static_cast<double>(seen.pages_total);
    // A device tells of all pages without being asked for any.
    const bool sample = seen.pages_asked > 0 && seen.pages_asked < seen.pages_total;
    const double scale = sample ? all / static_cast<double>(seen.pages_asked) : 1;
    // Between and behind arrays some page may be nobody's.
    double known = static_cast<double>(seen.untouched) * scale;
    for (const auto& [node, count] : seen.pages_by_node) {
      nodes[node] += static_cast<double>(count) * scale;
      known += static_cast<double>(count) * scale;
    }
    unknown += std::max(0.0, all - known);
    sampled = sampled || sample;
    pages.insert(seen.page_text());
    for (const Warning& warning : trace->warnings) add_once(warnings, warning);
    if (!trace->policy.note.empty())
      add_once(warnings, {"placement-method", "", trace->policy.note});
  }
  json by_node = json::array();
  for (const auto& [node, count] : nodes) by_node.push_back({node, count});
  return json{{"nodes", by_node},
              {"unknown", unknown},
              {"sampled", sampled},
              {"pages", pages},
              {"warnings", fields::to_json(warnings)}}
      .dump();
}

HostPlacement placement_of_host(const std::vector<std::string>& ranks) {
  std::map<int, double> nodes;
  double unknown = 0;
  bool sampled = false;
  std::set<std::string> pages;
  HostPlacement placement;
  for (const std::string& rank : ranks) {
    const json value = json::parse(rank);
    for (const json& node : value["nodes"]) nodes[node[0]] += node[1].get<double>();
    unknown += value["unknown"].get<double>();
    sampled = sampled || value["sampled"].get<bool>();
    for (const json& text : value["pages"]) pages.insert(text.get<std::string>());
    std::vector<Warning> its;
    std::optional<fields::Problem> problem;  // a rank of this run wrote it
    fields::from_json(value["warnings"], fields::Place("warnings", problem), its);
    for (const Warning& warning : its) add_once(placement.warnings, warning);
  }
  std::vector<std::string> parts;
  for (const auto& [node, count] : nodes)
    parts.push_back(fmt::format("node {}: {:.0f} pages", node, count));
  if (unknown >= 0.5) parts.push_back(fmt::format("not observed: {:.0f} pages", unknown));
  placement.text = parts.empty() ? "not observed" : fmt::format("{}", fmt::join(parts, ", "));
  if (sampled) placement.text += ", by a sample";
  for (const std::string& text : pages) placement.text += fmt::format(" ({})", text);
  return placement;
}

}  // namespace numatlas

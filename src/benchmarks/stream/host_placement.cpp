#include "benchmarks/stream/host_placement.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace numatlas {

using nlohmann::json;

std::string placement_of_rank(const std::vector<const Trace*>& traces) {
  std::map<int, double> nodes;
  double unknown = 0;
  bool sampled = false;
  std::set<std::string> pages, warnings;
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
    for (const Warning& warning : trace->warnings) warnings.insert(warning.text);
    if (!trace->policy.note.empty()) warnings.insert(trace->policy.note);
  }
  json by_node = json::array();
  for (const auto& [node, count] : nodes) by_node.push_back({node, count});
  return json{{"nodes", by_node},
              {"unknown", unknown},
              {"sampled", sampled},
              {"pages", pages},
              {"warnings", warnings}}
      .dump();
}

HostPlacement placement_of_host(const std::vector<std::string>& ranks) {
  std::map<int, double> nodes;
  double unknown = 0;
  bool sampled = false;
  std::set<std::string> pages, warnings;
  for (const std::string& rank : ranks) {
    const json value = json::parse(rank);
    for (const json& node : value["nodes"]) nodes[node[0]] += node[1].get<double>();
    unknown += value["unknown"].get<double>();
    sampled = sampled || value["sampled"].get<bool>();
    for (const json& text : value["pages"]) pages.insert(text.get<std::string>());
    for (const json& text : value["warnings"]) warnings.insert(text.get<std::string>());
  }
  std::vector<std::string> parts;
  for (const auto& [node, count] : nodes)
    parts.push_back(fmt::format("node {}: {:.0f} pages", node, count));
  if (unknown >= 0.5) parts.push_back(fmt::format("not observed: {:.0f} pages", unknown));
  HostPlacement placement;
  placement.text = parts.empty() ? "not observed" : fmt::format("{}", fmt::join(parts, ", "));
  if (sampled) placement.text += ", by a sample";
  for (const std::string& text : pages) placement.text += fmt::format(" ({})", text);
  placement.warnings.assign(warnings.begin(), warnings.end());
  return placement;
}

}  // namespace numatlas

#include "record/cache_level.h"
#include "kernels/traits.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace numatlas {

std::string memory_class(const Machine* machine, const std::string& cpu_node,
                         const std::string& memory_node) {
  if (cpu_node == memory_node) return "local";
  const auto is_it = [&](const NumaNode& one) {
    return std::to_string(one.id.value) == memory_node;
  };
  if (machine == nullptr) return "remote";
  const auto node = std::ranges::find_if(machine->nodes, is_it);
  if (node == machine->nodes.end() || !node->cpus.empty()) return "remote";
  if (node->kind.empty() || node->kind == "dram") return "without CPUs";
  std::string kind = node->kind;
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::toupper(c); });
  return kind;
}

std::string level_text(const ScenarioResult& point) {
  std::set<std::string> levels;
  for (const FlowResult& flow : point.flows) levels.insert(flow.level);
  return levels.empty() ? "-" : fmt::format("{}", fmt::join(levels, "/"));
}

std::string cache_text(const ScenarioResult& point) {
  std::set<std::string> caches;
  for (const FlowResult& flow : point.flows) {
    const bool past_caches = !traits_of(flow.kernel).reads && flow.stores == "non-temporal";
    const bool of_cpus = flow.level.starts_with("L") && !past_caches;
    if (of_cpus || flow.level == side_cache_level) caches.insert(flow.level);
  }
  return fmt::format("{}", fmt::join(caches, "/"));
}

std::string cache_warning_text(const std::string& figures, const std::string& caches) {
  return fmt::format(
      "{} of {}{}, not of memory: the working set fits there (use a larger size, if "
      "memory limits allow it)",
      figures, caches.starts_with(side_cache_level) ? "the " : "", caches);
}

std::vector<Warning> cache_warnings(const RunReport& report) {
  std::vector<Warning> warnings;
  for (const ScenarioResult& point : report.scenarios) {
    const std::string caches = cache_text(point);
    if (caches.empty()) continue;
    warnings.push_back({"fits-cache", point.name, cache_warning_text("a figure", caches)});
  }
  return warnings;
}

}  // namespace numatlas

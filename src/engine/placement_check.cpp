#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/real_engine.h"
#include "memory/pools.h"

namespace numatlas {
namespace {

// Page counts of a pattern may be off by a partly filled last round of the weights.
constexpr double share_tolerance = 0.01;

std::string observed_text(const Residency& residency) {
  std::string text;
  for (const auto& [node, pages] : residency.pages_by_node) {
    text += fmt::format("{}{} on node {}", text.empty() ? "" : ", ", pages, node);
  }
  return fmt::format("{} of {} pages asked", text.empty() ? "no page known" : text,
                     residency.pages_asked);
}

std::string node_problem(const NodeSet& wanted, const Residency& residency,
                         const std::string& asked) {
  const auto fraction = residency.fraction_on(wanted);
  if (!fraction || *fraction >= 1) return {};
  return fmt::format("memory {}: only {:.1f} % of the pages are there ({})", asked, *fraction * 100,
                     observed_text(residency));
}

std::string share_problem(const Region& region, const Residency& residency,
                          const Machine& machine) {
  const MemoryPlacement& placement = region.placement;
  // What is laid out in turn is the page that was asked for; move_pages counts base pages.
  const double base = static_cast<double>(machine.page_size.value_or(Bytes{4 * kib}).value);
  const double unit = region.pages == PageKind::thp ? static_cast<double>(thp_size()) / base : 1;
  double weights = 0;
  double pages = 0;
  for (const auto& [node, weight] : placement.nodes) weights += weight;
  for (const auto& [node, count] : residency.pages_by_node) pages += static_cast<double>(count);
  for (const auto& [node, weight] : placement.nodes) {
    const auto found = residency.pages_by_node.find(node.value);
    const double have =
        found == residency.pages_by_node.end() ? 0 : static_cast<double>(found->second);
    const double want = pages * weight / weights;
    // One round of the pattern may be cut off anywhere.
    if (std::abs(have - want) > std::max(share_tolerance * pages, weights * unit)) {
      return fmt::format("memory {}: node {} should have {:.0f} pages and has {:.0f} ({})",
                         placement.text(), node.value, want, have, observed_text(residency));
    }
  }
  return {};
}

std::string page_problem(const Region& region, const Residency& residency) {
  if (region.pages == PageKind::thp && residency.thp_fraction.value_or(0) < 0.99) {
    return fmt::format("pages thp: the kernel gave {}", residency.page_text());
  }
  if (region.pages == PageKind::base && residency.thp_fraction.value_or(0) > 0) {
    return fmt::format("pages base: the kernel gave {}", residency.page_text());
  }
  const bool huge = is_from_pool(region.pages);
  if (huge && residency.page_size && *residency.page_size != huge_page_size(region.pages)) {
    return fmt::format("pages {}: the kernel gave {}", name_of(region.pages),
                       residency.page_text());
  }
  return {};
}

/// Of the nodes; "" where these are as asked.
std::string nodes_problem(const Region& region, const Residency& residency, NodeId cpu_node,
                          const Machine& machine) {
  const MemoryPlacement& placement = region.placement;
  switch (placement.mode) {
    case MemoryMode::inherit: break;
    case MemoryMode::local:
      // On a node that has or may give no memory, local means the nearest that does: nothing to
      // judge.
      if (machine.usable_memory_nodes().contains(cpu_node))
        return node_problem({cpu_node}, residency, "local");
      break;
    case MemoryMode::bind:
    case MemoryMode::prefer: return node_problem(placement.node_set(), residency, placement.text());
    case MemoryMode::interleave:
    case MemoryMode::weighted: return share_problem(region, residency, machine);
  }
  return {};
}

}  // namespace

std::vector<Warning> placement_warnings(const Region& region, const Residency& residency,
                                        NodeId cpu_node, const Machine& machine) {
  const auto unknown = [](const std::string& why) {
    return std::vector<Warning>{
        {"placement-unknown", "", "placement could not be observed: " + why}};
  };
  if (!residency.problem.empty()) return unknown(residency.problem);
  const MemoryPlacement& placement = region.placement;
  // The device or the library decides, and what came of it was observed: nothing to judge.
  if (!placement.source.empty()) return {};
  Region in_force = region;
  const bool inherited =
      placement.mode == MemoryMode::inherit && placement.inherited != MemoryMode::inherit;
  if (inherited) in_force.placement = placement.in_force();
  if (residency.pages_by_node.empty() && in_force.placement.mode != MemoryMode::inherit)
    return unknown(observed_text(residency));
  std::vector<Warning> warnings;
  if (const std::string nodes = nodes_problem(in_force, residency, cpu_node, machine);
      !nodes.empty())
    warnings.push_back({"placement", "", (inherited ? "inherited " : "") + nodes});
  if (const std::string pages = page_problem(region, residency); !pages.empty())
    warnings.push_back({"page-size", "", pages});
  return warnings;
}

/// Where the memory lies after the last step, where it could have gone elsewhere.
void RealEngine::note_moved(Job& job, const ProcessMappings& mappings) {
  const bool several = machine_.usable_memory_nodes().size() > 1;
  if (!several || !job.buffer || job.device != nullptr) return;
  Trace& trace = job.trace;
  // What devices tell of their memory does not change.
  if (!trace.residency.problem.empty() || !trace.residency.told_by.empty()) return;
  job.seen_after = job.buffer->residency(mappings);
  std::size_t moved = pages_moved(trace.residency, *job.seen_after);
  std::size_t all = trace.residency.pages_total;
  if (job.source && trace.source_residency) {
    job.source_seen_after = job.source->residency(mappings);
    moved += pages_moved(*trace.source_residency, *job.source_seen_after);
    all += trace.source_residency->pages_total;
  }
  trace.pages_moved = moved;
  constexpr double share_that_matters = 0.01;
  const double share =
      static_cast<double>(moved) / static_cast<double>(std::max<std::size_t>(all, 1));
  if (share < share_that_matters) return;
  trace.warnings.push_back(
      {"pages-moved", "",
       fmt::format("at least {:.0f} % of its pages moved to another node during the measurement "
                   "(by NUMA balancing or another program)",
                   share * 100)});
}

}  // namespace numatlas

#include "placement/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"

namespace numatlas {
namespace {

constexpr std::string_view node_word = "{node}", socket_word = "{socket}";

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

/// Its text, cut where that is a very long path.
std::string value_text(const MemoryPlacement& placement) {
  return shortened(placement.text(), 300);
}

tl::unexpected<Error> no_one_number(const MemoryPlacement& placement, std::string_view word,
                                    const CpuSet& cpus, const std::string& which) {
  return fail_about(
      ErrorKind::unavailable, value_text(placement),
      fmt::format("a worker on CPU {} has no one number for {}: {}", to_list(cpus), word, which),
      "", "pin each worker with --cpus, or name one folder for all");
}

}  // namespace

Expected<MemoryPlacement> at_place(const MemoryPlacement& placement, const CpuSet& cpus,
                                   const Machine& machine) {
  MemoryPlacement placed = placement;
  if (cpus.empty()) return placed;
  if (placed.source.find(node_word) != std::string::npos) {
    const NodeSet nodes = machine.nodes_of(cpus);
    if (nodes.size() != 1) {
      return no_one_number(placement, node_word, cpus,
                           nodes.empty() ? "its node is not known" : "nodes " + to_list(nodes));
    }
    placed.source = replaced(placed.source, node_word, std::to_string(nodes.front().value));
  }
  if (placed.source.find(socket_word) != std::string::npos) {
    std::set<std::optional<int>> packages;
    for (CpuId id : cpus) {
      const Cpu* cpu = machine.find_cpu(id);
      packages.insert(cpu == nullptr ? std::nullopt : cpu->package);
    }
    if (packages.size() != 1 || !*packages.begin()) {
      return no_one_number(placement, socket_word, cpus,
                           packages.contains(std::nullopt) ? "its package is not known"
                                                           : "it may run on several packages");
    }
    placed.source = replaced(placed.source, socket_word, std::to_string(**packages.begin()));
  }
  return placed;
}

std::string subject_of(const MemoryPlacement& placement) {
  return "memory " + value_text(placement);
}

std::string subject_of(PageKind pages) { return std::string("pages ") + name_of(pages); }

}  // namespace numatlas

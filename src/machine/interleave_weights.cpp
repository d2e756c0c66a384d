#include "machine/interleave_weights.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace numatlas {

bool is_automatic_weight(std::string_view path) {
  // Kernels whose headers define `auto` as a macro give the file that name.
  constexpr std::array<std::string_view, 2> names{"/auto", "/__auto_type"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return path.ends_with(name); });
}

InterleaveWeights read_interleave_weights(const Tree& tree, const std::string& folder) {
  InterleaveWeights found;
  for (const std::string& name : tree.names(folder)) {
    const std::string path = folder + name;
    if (is_automatic_weight(path)) {
      if (auto value = tree.line(path)) {
        found.automatic_file = path;
        found.automatic = *std::move(value);
      }
      continue;
    }
    const auto node = number_after(name, "node");
    const auto weight = tree.number(path);
    if (node && weight && *weight > 0 && *weight <= INT32_MAX)
      found.of_nodes[NodeId{*node}] = static_cast<int>(*weight);
  }
  return found;
}

}  // namespace numatlas

#include "machine/interleave_weights.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace numatlas {
namespace {

/// The file that says that the kernel itself computes the weights from the firmware's bandwidths,
/// until one is set by hand.
bool is_automatic_weight(std::string_view name) {
  // Kernels whose headers define `auto` as a macro give the file that name.
  return name == "auto" || name == "__auto_type";
}

}  // namespace

InterleaveWeights read_interleave_weights(const Tree& tree) {
  InterleaveWeights found;
  const std::string folder = interleave_weight_folder;
  for (const std::string& name : tree.names(folder)) {
    const std::string path = folder + name;
    if (is_automatic_weight(name)) {
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

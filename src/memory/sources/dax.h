// Internal: device-DAX character devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "placement/placement.h"

namespace numatlas {

struct DaxDevice {
  std::string name;  ///< "dax0.0"
  std::uint64_t size = 0, alignment = 0;
  std::optional<NodeId> node;  ///< of its memory; else the nearest
};
/// Errors name the placement: no such device, not one of these, in use as system memory.
Expected<DaxDevice> find_dax(const MemoryPlacement& placement);

}  // namespace numatlas

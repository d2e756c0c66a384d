// Pages are moved from one node to another, and back between steps. Memory that is filled may be
// in use by others meanwhile.
#pragma once

#include <array>
#include <vector>

#include "kernels/fault.h"

namespace numatlas {

/// By which call pages are moved to another node.
enum class Moving { move_pages, mbind };
inline constexpr std::array all_movings{Moving::move_pages, Moving::mbind};
const char* name_of(Moving moving);  ///< "move_pages", "mbind"

struct MigrateParameters : PageWork {
  Moving moving = Moving::move_pages;
  int from = -1, to = -1;  ///< nodes
  static const char* name() { return "migrate"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const MigrateParameters&, const MigrateParameters&) = default;
};

}  // namespace numatlas

// Pages are moved from one node to another, and back between steps. Memory that is filled may be
// in use by others meanwhile.
#pragma once

#include <vector>

#include "kernels/fault.h"

namespace numatlas {

struct MigrateParameters : PageWork {
  int from = -1, to = -1;  ///< nodes
  static const char* name() { return "migrate"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const MigrateParameters&, const MigrateParameters&) = default;
};

}  // namespace numatlas

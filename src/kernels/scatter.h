// Updates of a word in each line, in strides that prefetchers do not follow, none waiting for
// another. A step is an update.
#pragma once

#include <vector>

#include "kernels/traits.h"

namespace numatlas {

struct ScatterParameters {
  static const char* name() { return "scatter"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const ScatterParameters&, const ScatterParameters&) = default;
};

}  // namespace numatlas

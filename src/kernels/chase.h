// The pointer chase: a step is one dependent load, with several chains one of each.
#pragma once

#include <vector>

#include "kernels/chain.h"
#include "kernels/traits.h"

namespace numatlas {

struct ChaseParameters : ChainSpec {
  bool verify_full = false;  ///< walk the whole chain before use, besides the proof
  unsigned tail_group = 0;   ///< loads of each group that is timed by itself; 0: none is
  static const char* name() { return "chase"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const ChaseParameters&, const ChaseParameters&) = default;
};

}  // namespace numatlas

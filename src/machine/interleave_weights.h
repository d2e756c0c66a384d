// The kernel's own weights of weighted interleave, which are the whole system's: the one place that
// knows how its files are named.
#pragma once

#include <map>
#include <string>

#include "base/ids.h"
#include "base/tree.h"

namespace numatlas {

inline constexpr const char* interleave_weight_folder =
    "/sys/kernel/mm/mempolicy/weighted_interleave/";

struct InterleaveWeights {
  std::map<NodeId, int> of_nodes;  ///< empty before Linux 6.9
  std::string automatic_file;      ///< "" before Linux 6.16
  std::string automatic;           ///< its content: "true" while the kernel computes the weights
};
InterleaveWeights read_interleave_weights(const Tree& tree);

}  // namespace numatlas

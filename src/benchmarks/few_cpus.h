// Some of a large machine's CPUs, where all take longer than there is time for.
#pragma once

#include <cstddef>

#include "machine/machine.h"

namespace numatlas {

/// The first `most` usable CPUs of each node.
inline CpuSet few_cpus_a_node(const Machine& machine, std::size_t most) {
  CpuSet chosen;
  for (NodeId node : machine.nodes_of(machine.usable_cpus())) {
    std::size_t taken = 0;
    const CpuSet here = machine.find_node(node)->cpus & machine.usable_cpus();
    for (CpuId cpu : here) {
      if (taken++ < most) chosen.insert(cpu);
    }
  }
  return chosen;
}

}  // namespace numatlas

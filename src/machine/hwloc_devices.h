// What only an hwloc XML file needs: its devices, and doubts about its words for memory.
#pragma once

#include <hwloc.h>

#include <string>

#include "machine/machine.h"

namespace numatlas {

/// GPUs among the PCI devices of the topology; a file without any says nothing of them.
void read_gpus(hwloc_topology_t topology, Machine& machine);

/// Takes away the words HBM and DRAM where hwloc guessed them (since 2.10 it calls the faster of
/// two memories HBM): where the processor is not known to have HBM. What was done, "" for nothing.
std::string forget_guessed_kinds(hwloc_topology_t topology);

}  // namespace numatlas

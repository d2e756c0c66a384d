// The machine as text for people who know numactl -H and lstopo.
#pragma once

#include <string>

#include "machine/machine.h"

namespace numatlas {

/// The whole machine in sections; whatever is not known is "-". With `per_cpu` a line for every CPU
/// as well (otherwise ranges, which stay short with thousands of CPUs). Ends in a newline.
std::string topology_table(const Machine& machine, bool per_cpu = false);

}  // namespace numatlas

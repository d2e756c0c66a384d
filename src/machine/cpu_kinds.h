// Which CPUs are of the same design, where a machine has several of them.
#pragma once

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// Sets cpu_kinds, and the machine's model where they have different ones. After caches and
/// identity. A kind follows from the PMU that counts on a CPU (x86: cpu_core, cpu_atom), the
/// core's part number (Arm), the levels of cache that it has, and the kernel's cpu_capacity.
void read_cpu_kinds(const Tree& tree, Machine& machine);

}  // namespace numatlas

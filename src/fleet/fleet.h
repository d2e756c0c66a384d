// Kinds of hosts, and the names of kernels.
#pragma once

#include <cstddef>
#include <string>

#include "machine/machine.h"
#include "record/fleet.h"

namespace numatlas {

/// Whether hosts of these kinds can be compared: the same but for 2 % of the memory, of which
/// firmware keeps more here and less there.
bool alike(const HostKind& a, const HostKind& b);
/// The index of the kind like this one, which is added where there is none.
std::size_t kind_index(Fleet& fleet, const HostKind& kind);
/// The kind of a host that runs so many processes and workers.
HostKind kind_of(const Machine& machine, int processes, int workers);
/// "AMD EPYC 7742, 256 CPUs, 8 nodes, 503 GiB, Linux 5.14.0".
std::string hardware_text(const HostKind& kind);
/// The same with ", 8 processes x 16 threads".
std::string to_text(const HostKind& kind);
/// "triad"; "triad (persist individual)" where there is more than memory.
std::string full_name(const FleetKernel& kernel);

}  // namespace numatlas

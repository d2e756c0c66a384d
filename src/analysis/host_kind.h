// Kinds of hosts: what hosts must have in common to be compared with each other.
#pragma once

#include <cstddef>
#include <string>

#include "machine/machine.h"
#include "record/report.h"

namespace numatlas {

struct HostKind {
  std::string cpu_model;
  std::string os;  ///< "Linux 6.1.0-18-amd64"
  int cpus = 0, nodes = 0;
  /// Of all nodes, rounded to whole GiB: what the firmware keeps differs by some MiB.
  Bytes memory;
  int processes = 0, workers = 0;  ///< of the run on this host; workers: threads of all processes
  friend bool operator==(const HostKind&, const HostKind&) = default;
};

/// Whether hosts of these kinds can be compared: the same but for 2 % of the memory, of which
/// firmware keeps more here and less there.
bool alike(const HostKind& a, const HostKind& b);
/// The kind of a host that runs so many processes and workers.
HostKind kind_of(const Machine& machine, int processes, int workers);
/// That of a host of a run that is reduced to its hosts.
HostKind kind_of(const RunReport& report, const HostRow& host);
/// "AMD EPYC 7742, 256 CPUs, 8 nodes, 503 GiB, Linux 5.14.0".
std::string hardware_text(const HostKind& kind);
/// The same with ", 8 processes x 16 threads".
std::string to_text(const HostKind& kind);

}  // namespace numatlas

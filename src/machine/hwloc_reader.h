// The one translator from an hwloc topology to a Machine: live, XML and synthetic alike.
// hwloc is used for the shape only (packages, cores, caches, nodes); numbers are always OS numbers.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

#include "machine/machine.h"

namespace numatlas {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// hwloc's view of this machine, or of the tree below `root`. CPUs and nodes that the cgroup
/// forbids are included.
Expected<Topology> load_live_topology(const std::string& root);
/// Which devices stay in a topology: GPUs, networks and disks, or all.
enum class Devices { important, kept };
/// From the text of an hwloc XML file. Errors are hwloc's, without the option's name.
Expected<Topology> load_xml_topology(const std::string& content,
                                     Devices devices = Devices::important);
/// From a synthetic description. Errors are hwloc's, without the option's name.
Expected<Topology> load_synthetic_topology(const std::string& description);

/// As hwloc's XML, of the version of this libhwloc.
Expected<std::string> to_xml(hwloc_topology_t topology);

/// The processor's name; "" where the topology does not say.
std::string cpu_model_of(hwloc_topology_t topology);

/// hwloc's words for a node's memory, in ours; "" for none (nullptr) or another.
std::string kind_of_subtype(const char* subtype);

/// CPUs, nodes, caches, distances, HMAT figures, allowance and identity as far as the topology
/// has them.
Machine translate(hwloc_topology_t topology);

}  // namespace numatlas

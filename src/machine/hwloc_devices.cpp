#include "machine/hwloc_devices.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "machine/hwloc_reader.h"
#include "machine/pci.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

/// The one node with CPUs among those near a device; nullopt where there are several.
std::optional<NodeId> near_node(hwloc_topology_t topology, hwloc_obj_t device,
                                const Machine& machine) {
  const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);
  std::optional<NodeId> found;
  for (const NumaNode& node : machine.nodes) {
    const auto bit = static_cast<unsigned>(node.id.value);
    if (place == nullptr || node.cpus.empty() || !hwloc_bitmap_isset(place->nodeset, bit)) continue;
    if (found) return std::nullopt;
    found = node.id;
  }
  return found;
}

/// The name that a vendor's library gave (GPUModel), else that of the list of PCI devices.
std::string gpu_name(hwloc_obj_t device) {
  for (hwloc_obj_t part = device->io_first_child; part != nullptr; part = part->next_sibling) {
    if (const char* name = hwloc_obj_get_info_by_name(part, "GPUModel")) return name;
  }
  const char* name = hwloc_obj_get_info_by_name(device, "PCIDevice");
  return name == nullptr ? "" : name;
}

std::string word_of(hwloc_obj_t node) { return node->subtype == nullptr ? "" : node->subtype; }

}  // namespace

void read_gpus(hwloc_topology_t topology, Machine& machine) {
  bool any = false;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_pcidev(topology, device)) != nullptr;) {
    any = true;
    const auto& pci = device->attr->pcidev;
    Gpu gpu;
    gpu.vendor = gpu_vendor(std::int64_t{pci.class_id} << 8, pci.vendor_id);
    if (gpu.vendor.empty()) continue;
    gpu.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev,
                                  static_cast<unsigned>(pci.func));
    gpu.device_id = fmt::format("0x{:04x}", pci.device_id);
    gpu.node = near_node(topology, device, machine);
    gpu.driver = "unknown";
    gpu.name = gpu_name(device);
    machine.gpus.push_back(std::move(gpu));
  }
  std::sort(machine.gpus.begin(), machine.gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.pci_address < b.pci_address; });
  if (!any) machine.unread["gpus"] = "the file has no PCI devices";
}

std::string forget_guessed_kinds(hwloc_topology_t topology) {
  const std::string cpu_model = cpu_model_of(topology);
  if (stacked_memory_of(cpu_model) != StackedMemory::none) return "";
  NodeSet guessed;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (word_of(node) == "HBM") guessed.insert(NodeId{static_cast<int>(node->os_index)});
  }
  if (guessed.empty()) return "";
  // Where the near DRAM became HBM, what it calls DRAM may be anything slower.
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (word_of(node) != "HBM" && word_of(node) != "DRAM") continue;
    std::free(node->subtype);  // NOLINT: hwloc's own, which frees it the same way
    node->subtype = nullptr;
  }
  return fmt::format("the file calls node {} HBM: a guess of hwloc, not believed, as {}",
                     to_list(guessed),
                     cpu_model.empty() ? "it does not name the processor"
                                       : cpu_model + " is not known to have any");
}

}  // namespace numatlas

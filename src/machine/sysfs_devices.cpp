#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/pci.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

constexpr std::uint64_t sector = 512;  // /sys/block sizes count these, whatever the device's own

std::optional<NodeId> node_from(const Tree& tree, const std::string& path) {
  const auto value = tree.number(path);
  if (!value || *value < 0) return std::nullopt;  // -1: the firmware does not say
  return NodeId{static_cast<int>(*value)};
}

void read_gpus(const Tree& tree, Machine& machine) {
  const std::string devices = "/sys/bus/pci/devices";
  for (const std::string& address : tree.names(devices)) {
    const std::string folder = devices + "/" + address;
    const auto pci_class = tree.number(folder + "/class");
    const auto vendor = tree.number(folder + "/vendor");
    if (!pci_class || !vendor) continue;
    Gpu gpu;
    gpu.vendor = gpu_vendor(*pci_class, *vendor);
    if (gpu.vendor.empty()) continue;
    gpu.pci_address = address;
    gpu.device_id = fmt::format("0x{:04x}", tree.number(folder + "/device").value_or(0));
    gpu.node = node_from(tree, folder + "/numa_node");
    gpu.driver = tree.link_name(folder + "/driver").value_or("");
    gpu.path = read_path(tree, address);
    machine.gpus.push_back(std::move(gpu));
  }
}

void read_dax_devices(const Tree& tree, Machine& machine) {
  const std::string devices = "/sys/bus/dax/devices";
  for (const std::string& name : tree.names(devices)) {
    const std::string folder = devices + "/" + name;
    const auto size = tree.number(folder + "/size");
    if (size && *size == 0) continue;  // the seed device of a region, not configured
    PersistentMemory memory;
    memory.name = name;
    memory.mode = tree.link_name(folder + "/driver") == "kmem" ? "system-ram" : "devdax";
    if (size) memory.size = Bytes{static_cast<std::uint64_t>(*size)};
    memory.node = node_from(tree, folder + "/numa_node");
    memory.target_node = node_from(tree, folder + "/target_node");
    machine.persistent_memory.push_back(std::move(memory));
  }
}

void read_pmem_blocks(const Tree& tree, Machine& machine) {
  for (const std::string& name : tree.names("/sys/block")) {
    if (!name.starts_with("pmem")) continue;
    const std::string folder = "/sys/block/" + name;
    PersistentMemory memory;
    memory.name = name;
    // pmemNs goes through a block table; without "dax" the kernel has no page structures for it.
    const bool raw = tree.number(folder + "/queue/dax") == 0;
    memory.mode = name.ends_with('s') ? "sector" : raw ? "raw" : "fsdax";
    if (const auto sectors = tree.number(folder + "/size")) {
      memory.size = Bytes{static_cast<std::uint64_t>(*sectors) * sector};
    }
    memory.node = node_from(tree, folder + "/device/numa_node");
    memory.target_node = node_from(tree, folder + "/device/target_node");
    machine.persistent_memory.push_back(std::move(memory));
  }
}

/// CXL memory that no address range leads to: its driver is there, but no region was made of it, so
/// that neither a node nor a DAX device has it. What has a region is found as one of these.
void read_unused_cxl(const Tree& tree, Machine& machine) {
  const std::string devices = "/sys/bus/cxl/devices";
  const std::vector<std::string> names = tree.names(devices);
  std::set<std::string> used;
  for (const std::string& name : names) {
    if (!name.starts_with("endpoint")) continue;
    const std::string endpoint = devices + "/" + name;
    for (const std::string& part : tree.names(endpoint)) {
      const auto mapped = tree.number(endpoint + "/" + part + "/size");  // of decoders only
      if (mapped.value_or(0) > 0) used.insert(tree.link_name(endpoint + "/uport").value_or(""));
    }
  }
  for (const std::string& name : names) {
    if (!number_after(name, "mem") || used.contains(name)) continue;
    const std::string folder = devices + "/" + name;
    PersistentMemory memory;
    memory.name = name;
    memory.mode = "unused";
    const std::int64_t size = tree.number(folder + "/ram/size").value_or(0) +
                              tree.number(folder + "/pmem/size").value_or(0);
    if (size > 0) memory.size = Bytes{static_cast<std::uint64_t>(size)};
    memory.node = node_from(tree, folder + "/numa_node");
    machine.persistent_memory.push_back(std::move(memory));
  }
}

NumaNode* find_node(Machine& machine, std::optional<NodeId> id) {
  for (NumaNode& node : machine.nodes) {
    if (id && node.id == *id) return &node;
  }
  return nullptr;
}

/// What a DAX device is made of, by the bus above it: CXL regions and NVDIMMs name themselves,
/// "soft reserved" memory (hmem) may be either CXL or HBM.
std::string dax_kind(const Tree& tree, const std::string& name) {
  const auto path = tree.resolved("/sys/bus/dax/devices/" + name);
  if (!path) return "";
  // ACPI0017 is the CXL root device, "ndbus" the bus of NVDIMMs.
  if (path->find("/ACPI0017") != std::string::npos || path->find("decoder") != std::string::npos) {
    return "cxl";
  }
  return path->find("/ndbus") != std::string::npos ? "pmem" : "";
}

/// NVIDIA's driver says which node a GPU's memory is (Grace Hopper and its like).
void mark_gpu_memory(const Tree& tree, Machine& machine) {
  for (Gpu& gpu : machine.gpus) {
    const auto status =
        tree.text(fmt::format("/proc/driver/nvidia/gpus/{}/numa_status", gpu.pci_address));
    const auto line = status ? value_of(*status, "Node") : std::nullopt;
    const auto id = line ? number_after(*line, "") : std::nullopt;
    NumaNode* node = id ? find_node(machine, NodeId{*id}) : nullptr;
    if (node == nullptr || !node->cpus.empty()) continue;
    node->kind = "gpu";
    gpu.memory_node = node->id;
  }
}

/// Whether the firmware claims much more bandwidth for it than for the memory beside the CPUs that
/// are nearest to it.
bool is_faster_than_dram(const Machine& machine, const NumaNode& node) {
  constexpr double much_more = 1.5;
  if (!node.hmat || !node.hmat->read_bandwidth) return false;
  return std::ranges::any_of(machine.nodes, [&](const NumaNode& near) {
    return node.hmat->initiators.contains(near.id) && !near.cpus.empty() && near.hmat &&
           near.hmat->read_bandwidth &&
           *node.hmat->read_bandwidth > much_more * *near.hmat->read_bandwidth;
  });
}

/// What memory without CPUs is where neither its bus nor its driver says so; "" where nothing does.
/// Processors with stacked memory of their own: Xeon Max in flat mode (64 GiB a socket), Xeon Phi.
/// Memory of a GPU is a node only where it is coherent with CPUs other than x86 (NVLink of POWER9
/// and Grace); a container may hide the driver's folder that names the node.
std::string distant_memory_kind(const Machine& machine, const NumaNode& node) {
  const auto is = [&](const char* text) {
    return machine.cpu_model.find(text) != std::string::npos;
  };
  const StackedMemory stacked = stacked_memory_of(machine.cpu_model);
  if (stacked == StackedMemory::only) return "hbm";
  if (stacked != StackedMemory::none && node.memory_total && *node.memory_total <= Bytes{64 * gib})
    return "hbm";
  const bool other_than_x86 = machine.arch == "x86_64" ? is("Neoverse") : !machine.arch.empty();
  const bool any_gpu =
      std::ranges::any_of(machine.gpus, [](const Gpu& gpu) { return gpu.vendor == "NVIDIA"; });
  if (is("NVIDIA Grace") || (other_than_x86 && any_gpu)) return "gpu";
  return is_faster_than_dram(machine, node) ? "hbm" : "";
}

/// Memory beside CPUs. Ordinary DRAM, but for processors that have nothing but stacked memory.
std::string cpu_memory_kind(const Machine& machine) {
  const StackedMemory stacked = stacked_memory_of(machine.cpu_model);
  if (stacked == StackedMemory::only) return "hbm";
  const bool has_far_memory =
      std::any_of(machine.nodes.begin(), machine.nodes.end(),
                  [](const NumaNode& node) { return node.cpus.empty() && node.may_have_memory(); });
  // Xeon Max runs with HBM alone, in front of DRAM, or beside it as nodes without CPUs.
  const bool cached = std::ranges::any_of(
      machine.nodes, [](const NumaNode& node) { return !node.side_caches.empty(); });
  if (stacked == StackedMemory::either) return cached || has_far_memory ? "dram" : "";
  // What DRAM caches is mostly persistent memory.
  if (cached) return "";
  return "dram";
}

}  // namespace

StackedMemory stacked_memory_of(const std::string& cpu_model) {
  constexpr std::array<std::pair<const char*, StackedMemory>, 6> processors{{
      {"A64FX", StackedMemory::only},
      {"MI300A", StackedMemory::only},
      {"EPYC 9V64H", StackedMemory::only},
      {"Xeon(R) CPU Max", StackedMemory::either},
      {"Xeon Phi", StackedMemory::beside},
      {"Xeon(R) Phi", StackedMemory::beside},
  }};
  for (const auto& [name, memory] : processors)
    if (cpu_model.find(name) != std::string::npos) return memory;
  return StackedMemory::none;
}

void read_devices(const Tree& tree, Machine& machine) {
  read_gpus(tree, machine);
  read_pmem_blocks(tree, machine);
  read_dax_devices(tree, machine);
  read_unused_cxl(tree, machine);
  // A running kernel that was built without a bus has no folder for it; a recorded tree, or a
  // container, may have left it out.
  const bool silent = !tree.is_live() || !tree.exists("/sys/bus");
  if (silent && !tree.exists("/sys/bus/pci"))
    machine.unread["gpus"] = "/sys/bus/pci is not visible";
  if (silent && machine.persistent_memory.empty() && !tree.exists("/sys/bus/dax"))
    machine.unread["persistent_memory"] = "/sys/bus/dax is not visible";
}

void name_distant_memory(Machine& machine) {
  for (NumaNode& node : machine.nodes) {
    if (node.kind.empty() && node.cpus.empty() && node.may_have_memory())
      node.kind = distant_memory_kind(machine, node);
  }
}

void name_memory_beside_cpus(Machine& machine) {
  const std::string beside_cpus = cpu_memory_kind(machine);
  for (NumaNode& node : machine.nodes) {
    if (node.kind.empty() && !node.cpus.empty() && node.may_have_memory()) node.kind = beside_cpus;
  }
}

void read_node_kinds(const Tree& tree, Machine& machine) {
  mark_gpu_memory(tree, machine);
  name_memory_beside_cpus(machine);
  for (const PersistentMemory& memory : machine.persistent_memory) {
    NumaNode* node = memory.mode == "system-ram" ? find_node(machine, memory.target_node) : nullptr;
    const std::string kind = node != nullptr ? dax_kind(tree, memory.name) : "";
    if (kind.empty() || node->kind == kind || node->kind.ends_with("+" + kind)) continue;
    // Memory hot-plugged into a node with CPUs: a page there may be of either kind.
    node->kind = node->cpus.empty() ? kind : node->kind + "+" + kind;
  }
  name_distant_memory(machine);
}

}  // namespace numatlas

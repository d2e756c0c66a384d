#include "machine/hwloc_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/tree.h"
#include "machine/identity.h"

namespace numatlas {
namespace {

CpuSet cpus_of(hwloc_const_bitmap_t bits) {
  CpuSet set;
  if (bits == nullptr || hwloc_bitmap_weight(bits) < 0) return set;  // absent, or without an end
  for (int id = hwloc_bitmap_first(bits); id >= 0; id = hwloc_bitmap_next(bits, id)) {
    set.insert(CpuId{id});
  }
  return set;
}

NodeSet nodes_of(hwloc_const_bitmap_t bits) {
  NodeSet set;
  if (bits == nullptr || hwloc_bitmap_weight(bits) < 0) return set;
  for (int id = hwloc_bitmap_first(bits); id >= 0; id = hwloc_bitmap_next(bits, id)) {
    set.insert(NodeId{id});
  }
  return set;
}

std::string info_of(hwloc_obj_t object, const char* name) {
  if (object == nullptr) return {};
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

int os_number(hwloc_obj_t object) {
  return object == nullptr || object->os_index == HWLOC_UNKNOWN_INDEX
             ? -1
             : static_cast<int>(object->os_index);
}

/// hwloc gives every node a locality, also those without CPUs of their own (HBM, CXL). A CPU's own
/// node is the one with the smallest locality around it; among equals DRAM comes before
/// special memory, then the lower number.
void own_cpus(const std::vector<hwloc_obj_t>& node_objects, Machine& machine) {
  std::map<int, CpuSet> own;
  for (Cpu& cpu : machine.cpus) {
    std::tuple<int, int, int> best{};
    for (hwloc_obj_t object : node_objects) {
      if (!hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(cpu.id.value))) continue;
      const std::string kind = kind_of_subtype(object->subtype);
      const std::tuple<int, int, int> claim{hwloc_bitmap_weight(object->cpuset),
                                            kind.empty() || kind == "dram" ? 0 : 1,
                                            os_number(object)};
      if (cpu.node.value >= 0 && claim >= best) continue;
      best = claim;
      cpu.node = NodeId{os_number(object)};
    }
    if (cpu.node.value >= 0) own[cpu.node.value].insert(cpu.id);
  }
  for (NumaNode& node : machine.nodes) node.cpus = own[node.id.value];
}

void add_cpus(hwloc_topology_t topology, Machine& machine) {
  std::map<std::optional<int>, int> threads_of_core;  // core -> hardware threads seen so far
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
    Cpu cpu;
    cpu.id = CpuId{os_number(unit)};
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    cpu.core = static_cast<int>(core != nullptr ? core->logical_index : unit->logical_index);
    const int package =
        os_number(hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, unit));
    if (package >= 0) cpu.package = package;
    machine.cpus.push_back(cpu);
  }
  std::sort(machine.cpus.begin(), machine.cpus.end(),
            [](const Cpu& a, const Cpu& b) { return a.id < b.id; });
  for (Cpu& cpu : machine.cpus) cpu.smt_index = threads_of_core[cpu.core]++;
}

std::vector<HugePagePool> pools_of(hwloc_obj_t object) {
  std::vector<HugePagePool> pools;
  const auto& memory = object->attr->numanode;
  // Entry 0 is the base page. How many are free is not recorded: all, until told otherwise.
  for (unsigned i = 1; i < memory.page_types_len; ++i) {
    const auto& type = memory.page_types[i];
    pools.push_back({Bytes{type.size}, type.count, type.count});
  }
  return pools;
}

std::vector<hwloc_obj_t> add_nodes(hwloc_topology_t topology, Machine& machine) {
  std::vector<hwloc_obj_t> objects;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr;) {
    if (object->os_index == HWLOC_UNKNOWN_INDEX) continue;
    objects.push_back(object);
    NumaNode node;
    node.id = NodeId{os_number(object)};
    node.memory_total = Bytes{object->attr->numanode.local_memory};
    node.kind = kind_of_subtype(object->subtype);
    node.huge_pages = pools_of(object);
    const auto& memory = object->attr->numanode;
    if (!machine.page_size && memory.page_types_len > 0 && memory.page_types[0].size > 0) {
      machine.page_size = Bytes{memory.page_types[0].size};
    }
    machine.nodes.push_back(std::move(node));
  }
  std::sort(machine.nodes.begin(), machine.nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
  return objects;
}

NumaNode* node_of(Machine& machine, hwloc_obj_t object) {
  const int id = os_number(object);
  for (NumaNode& node : machine.nodes) {
    if (node.id.value == id) return &node;
  }
  return nullptr;
}

void add_distances(hwloc_topology_t topology, Machine& machine) {
  std::array<hwloc_distances_s*, 8> matrices{};  // hwloc knows a few kinds; the OS gives one
  unsigned count = matrices.size();
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, matrices.data(),
                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0) {
    return;
  }
  count = std::min(count, static_cast<unsigned>(matrices.size()));
  bool taken = false;
  for (unsigned m = 0; m < count; ++m) {
    hwloc_distances_s* matrix = matrices[m];
    const bool from_os = (matrix->kind & HWLOC_DISTANCES_KIND_FROM_OS) != 0;
    for (unsigned row = 0; from_os && !taken && row < matrix->nbobjs; ++row) {
      NumaNode* node = node_of(machine, matrix->objs[row]);
      for (unsigned column = 0; node != nullptr && column < matrix->nbobjs; ++column) {
        node->distance[os_number(matrix->objs[column])] =
            static_cast<int>(matrix->values[row * matrix->nbobjs + column]);
      }
    }
    taken = taken || from_os;
    hwloc_distances_release(topology, matrix);
  }
}

/// One firmware figure of a node from its best initiator, by how many of its units make one SI
/// unit.
std::optional<double> figure(hwloc_topology_t topology, hwloc_obj_t node, const char* name,
                             double per_unit, const Machine& machine, NodeSet& initiators) {
  hwloc_memattr_id_t attribute{};
  hwloc_location initiator{};
  hwloc_uint64_t value = 0;
  if (hwloc_memattr_get_by_name(topology, name, &attribute) != 0 ||
      hwloc_memattr_get_best_initiator(topology, attribute, node, 0, &initiator, &value) != 0 ||
      value == 0) {
    return std::nullopt;
  }
  hwloc_const_bitmap_t near = initiator.type == HWLOC_LOCATION_TYPE_CPUSET
                                  ? initiator.location.cpuset
                                  : initiator.location.object->cpuset;
  initiators = machine.nodes_of(cpus_of(near));
  return static_cast<double>(value) / per_unit;
}

void add_firmware_figures(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& objects,
                          Machine& machine) {
  constexpr double megabytes = 1 / 1e6;  // hwloc passes on the kernel's MB/s
  constexpr double mebibytes =
      1.0 / mib;  // its documentation says MiB/s, as `numatlas export` writes
  constexpr double nanoseconds = 1e9;
  const bool exported =
      hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "MeasuredBy") != nullptr;
  for (hwloc_obj_t object : objects) {
    HmatFigures found;
    const auto either = [&](const char* exact, const char* general, double per_unit) {
      auto value = figure(topology, object, exact, per_unit, machine, found.initiators);
      return value ? value : figure(topology, object, general, per_unit, machine, found.initiators);
    };
    if (exported) {
      const auto measured = [&](const char* name, double per_unit) {
        return figure(topology, object, name, per_unit, machine, found.initiators);
      };
      found.read_latency = measured("MeasuredLatency", nanoseconds);
      found.write_bandwidth = measured("MeasuredWriteBandwidth", mebibytes);
      found.read_bandwidth = measured("MeasuredReadBandwidth", mebibytes);
      found.measured = found.read_latency || found.read_bandwidth || found.write_bandwidth;
    }
    if (found.measured) {  // and nothing of the firmware's beside it
      if (NumaNode* node = node_of(machine, object); node != nullptr) node->hmat = found;
      continue;
    }
    found.read_bandwidth = either("ReadBandwidth", "Bandwidth", megabytes);
    found.write_bandwidth = either("WriteBandwidth", "Bandwidth", megabytes);
    found.read_latency = either("ReadLatency", "Latency", nanoseconds);
    found.write_latency = either("WriteLatency", "Latency", nanoseconds);
    const bool any =
        found.read_bandwidth || found.write_bandwidth || found.read_latency || found.write_latency;
    NumaNode* node = node_of(machine, object);
    if (any && node != nullptr) node->hmat = found;
  }
}

void add_caches(hwloc_topology_t topology, Machine& machine) {
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    if (!hwloc_obj_type_is_cache(hwloc_get_depth_type(topology, depth))) continue;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_depth(topology, depth, object)) != nullptr;) {
      const auto& found = object->attr->cache;
      Cache cache;
      cache.level = static_cast<int>(found.depth);
      cache.type = found.type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction"
                   : found.type == HWLOC_OBJ_CACHE_DATA      ? "data"
                                                             : "unified";
      cache.size = Bytes{found.size};
      if (found.linesize > 0) cache.line_size = Bytes{found.linesize};
      cache.cpus = cpus_of(object->cpuset);
      machine.caches.push_back(std::move(cache));
    }
  }
  std::sort(machine.caches.begin(), machine.caches.end(), [](const Cache& a, const Cache& b) {
    const auto key = [](const Cache& c) {
      return std::tuple(c.level, c.cpus.empty() ? -1 : c.cpus.front().value, c.type);
    };
    return key(a) < key(b);
  });
}

/// hwloc puts them above the nodes that they are in front of. Firmware (HMAT) names them: HBM of a
/// Xeon Max in cache mode, DRAM before persistent memory.
void add_side_caches(const std::vector<hwloc_obj_t>& node_objects, Machine& machine) {
  for (hwloc_obj_t object : node_objects) {
    NumaNode* const node = node_of(machine, object);
    std::map<unsigned, MemorySideCache> by_depth;
    for (hwloc_obj_t above = object->parent;
         node != nullptr && above != nullptr && above->type == HWLOC_OBJ_MEMCACHE;
         above = above->parent) {
      const auto& found = above->attr->cache;
      if (found.size == 0) continue;
      by_depth[found.depth] = {
          0, Bytes{found.size},
          found.linesize > 0 ? std::optional(Bytes{found.linesize}) : std::nullopt};
    }
    for (auto& [depth, cache] : by_depth) {
      cache.level = static_cast<int>(node->side_caches.size()) + 1;
      node->side_caches.push_back(cache);
    }
  }
}

/// The types of Intel's cores in hwloc's words, from fast to slow, and ours.
constexpr std::array<std::pair<std::string_view, const char*>, 3> core_types{{
    {"IntelCore", "performance"},
    {"IntelAtom", "efficiency"},
    {"IntelLowPower", "low-power"},
}};

/// What hwloc says of some CPUs.
struct Design {
  std::size_t type = core_types.size();  ///< index of their type; the size for none
  CpuKind kind;

  /// Those of one type are of one design, and those whose capacities are less than an eighth apart.
  bool has(const Design& slower) const {
    if (type != slower.type) return false;
    return type < core_types.size() || *slower.kind.capacity >= *kind.capacity * 7 / 8;
  }
};

/// All that have a type or the kernel's capacity: what differs only in a frequency is one design.
std::vector<Design> designs_of(hwloc_topology_t topology) {
  std::vector<Design> designs;
  for (int i = hwloc_cpukinds_get_nr(topology, 0); i-- > 0;) {
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    unsigned count = 0;
    hwloc_info_s* infos = nullptr;
    Design one;
    const bool found = hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), cpus, nullptr,
                                               &count, &infos, 0) == 0;
    for (unsigned info = 0; found && info < count; ++info) {
      const std::string_view name = infos[info].name, value = infos[info].value;
      for (std::size_t type = 0; name == "CoreType" && type < core_types.size(); ++type)
        if (value == core_types[type].first) one.type = type;
      if (const auto capacity = number_after(value, ""); name == "LinuxCapacity" && capacity)
        one.kind.capacity = *capacity;
    }
    one.kind.cpus = cpus_of(cpus);
    hwloc_bitmap_free(cpus);
    if (one.type < core_types.size() || one.kind.capacity.value_or(0) > 0)
      designs.push_back(std::move(one));
  }
  std::ranges::stable_sort(designs, {}, [](const Design& one) {
    return std::pair(one.type, -one.kind.capacity.value_or(0));
  });
  return designs;
}

/// Those of Intel by their types; "performance" and "efficiency" by two capacities; else numbers,
/// from the fastest.
void add_cpu_kinds(hwloc_topology_t topology, Machine& machine) {
  std::vector<Design> kinds;
  CpuSet rest = machine.all_cpus();
  for (Design& one : designs_of(topology)) {
    rest = rest - one.kind.cpus;
    if (!kinds.empty() && kinds.back().has(one))
      kinds.back().kind.cpus = kinds.back().kind.cpus | one.kind.cpus;
    else
      kinds.push_back(std::move(one));
  }
  if (kinds.size() < 2 || !rest.empty()) return;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool typed = kinds[i].type < core_types.size();
    const std::size_t type = kinds.size() == 2 && !typed ? i : kinds[i].type;
    kinds[i].kind.name =
        type < core_types.size() ? core_types[type].second : fmt::format("kind{}", i + 1);
    machine.cpu_kinds.push_back(std::move(kinds[i].kind));
  }
}

void add_identity(hwloc_topology_t topology, Machine& machine) {
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  machine.host = info_of(root, "HostName");
  machine.arch = info_of(root, "Architecture");
  machine.os = info_of(root, "OSName");
  const std::string release = info_of(root, "OSRelease");
  if (!release.empty()) machine.os += " " + release;
  machine.cpu_model = cpu_model_of(topology);
}

}  // namespace

std::string kind_of_subtype(const char* subtype) {
  if (subtype == nullptr) return "";
  const std::string name = subtype;
  if (name == "DRAM") return "dram";
  if (name == "HBM" || name == "MCDRAM") return "hbm";
  if (name == "NVM") return "pmem";
  if (name == "GPUMemory") return "gpu";
  if (name.starts_with("CXL")) return "cxl";
  return "";
}

std::string cpu_model_of(hwloc_topology_t topology) {
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
  for (hwloc_obj_t object : {package, root}) {
    if (std::string model = info_of(object, "CPUModel"); !model.empty()) return model;
    if (!info_of(object, "CPUPart").empty())
      return arm_core_name(info_of(object, "CPUImplementer"), info_of(object, "CPUPart"));
  }
  return "";
}

Machine translate(hwloc_topology_t topology) {
  Machine machine;
  add_identity(topology, machine);
  add_cpus(topology, machine);
  const std::vector<hwloc_obj_t> nodes = add_nodes(topology, machine);
  own_cpus(nodes, machine);
  add_distances(topology, machine);
  add_firmware_figures(topology, nodes, machine);
  add_caches(topology, machine);
  add_side_caches(nodes, machine);
  add_cpu_kinds(topology, machine);
  machine.allowance.affinity = cpus_of(hwloc_topology_get_allowed_cpuset(topology));
  machine.allowance.cpuset = machine.allowance.affinity;
  machine.allowance.memory_nodes = nodes_of(hwloc_topology_get_allowed_nodeset(topology));
  return machine;
}

}  // namespace numatlas

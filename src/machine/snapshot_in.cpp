// Reading a snapshot back: every field is checked, and the errors name it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/snapshot_reader.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;

constexpr int most_id = 1 << 20;     // as base/ids reads lists
constexpr int most_level = 16;       // caches have up to 5 today
constexpr int most_lanes = 1024;     // a PCIe link has up to 32 today
constexpr int most_distance = 4096;  // the firmware's table has one byte a pair; room for others

using Failure = std::optional<Error>;

HmatFigures read_hmat(const json& value, const std::string& path, Failure& failure) {
  HmatFigures hmat;
  FieldReader fields(value, path, failure);
  fields.list("initiators", hmat.initiators);
  fields.real("read_bandwidth", hmat.read_bandwidth);
  fields.real("write_bandwidth", hmat.write_bandwidth);
  fields.real("read_latency", hmat.read_latency);
  fields.real("write_latency", hmat.write_latency);
  hmat.measured = value.is_object() && value.contains("measured") && value["measured"] == true;
  return hmat;
}

void read_distance(FieldReader& fields, NumaNode& node) {
  const json* found = fields.field("distance");
  if (found == nullptr) return;
  if (!found->is_object()) return fields.reject("distance", "must be an object");
  for (const auto& [key, value] : found->items()) {
    int other = -1;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), other);
    if (code != std::errc{} || end != key.data() + key.size() || other < 0 || other > most_id) {
      return fields.reject("distance." + key, "must have a node's number as its name");
    }
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() > most_distance) {
      return fields.reject("distance." + key,
                           fmt::format("must be a whole number from 0 to {}", most_distance));
    }
    node.distance[other] = value.get<int>();
  }
}

NumaNode read_node(const json& value, const std::string& path, Failure& failure) {
  NumaNode node;
  FieldReader fields(value, path, failure);
  fields.whole("id", node.id.value, 0, most_id);
  fields.list("cpus", node.cpus);
  fields.bytes("memory_total", node.memory_total);
  fields.bytes("memory_free", node.memory_free);
  fields.bytes("memory_cache", node.memory_cache);
  read_distance(fields, node);
  if (const json* hmat = fields.field("hmat", true)) {
    node.hmat = read_hmat(*hmat, fields.path_of("hmat"), failure);
  }
  fields.whole("memory_tier", node.memory_tier, 0, most_id);
  fields.array("huge_pages", [&](const json& item, const std::string& where) {
    HugePagePool pool;
    FieldReader reader(item, where, failure);
    reader.bytes("page_size", pool.page_size);
    reader.count("total", pool.total);
    reader.count("free", pool.free);
    node.huge_pages.push_back(pool);
  });
  fields.text("kind", node.kind);
  // Older snapshots, and those of machines without such caches, have none.
  if (fields.failed() || !value.contains("memory_side_caches")) return node;
  fields.array("memory_side_caches", [&](const json& item, const std::string& where) {
    MemorySideCache cache;
    FieldReader reader(item, where, failure);
    reader.whole("level", cache.level, 1, most_level);
    reader.bytes("size", cache.size);
    reader.bytes("line_size", cache.line_size);
    node.side_caches.push_back(cache);
  });
  return node;
}

Cpu read_cpu(const json& value, const std::string& path, Failure& failure) {
  Cpu cpu;
  FieldReader fields(value, path, failure);
  fields.whole("id", cpu.id.value, 0, most_id);
  fields.whole_or_none("core", cpu.core, 0, most_id);
  fields.whole_or_none("package", cpu.package, 0, INT32_MAX);
  fields.whole_or_none("node", cpu.node.value, 0, most_id);
  fields.whole("smt_index", cpu.smt_index, 0, most_id);
  return cpu;
}

CpuKind read_kind(const json& value, const std::string& path, Failure& failure) {
  CpuKind kind;
  FieldReader fields(value, path, failure);
  fields.text("name", kind.name);
  fields.text("model", kind.model);
  fields.whole("capacity", kind.capacity, 1, INT32_MAX);
  fields.list("cpus", kind.cpus);
  return kind;
}

Cache read_cache(const json& value, const std::string& path, Failure& failure) {
  Cache cache;
  FieldReader fields(value, path, failure);
  fields.whole("level", cache.level, 1, most_level);
  fields.text("type", cache.type);
  if (!fields.failed() && cache.type != "data" && cache.type != "instruction" &&
      cache.type != "unified") {
    fields.reject("type", "must be data, instruction or unified");
  }
  fields.bytes("size", cache.size);
  fields.bytes("line_size", cache.line_size);
  fields.list("cpus", cache.cpus);
  return cache;
}

PciStep read_step(const json& value, const std::string& path, Failure& failure) {
  PciStep step;
  FieldReader fields(value, path, failure);
  fields.text("pci_address", step.pci_address);
  fields.real("speed", step.link.speed);
  fields.whole("width", step.link.width, 1, most_lanes);
  fields.real("max_speed", step.link.max_speed);
  fields.whole("max_width", step.link.max_width, 1, most_lanes);
  return step;
}

Gpu read_gpu(const json& value, const std::string& path, Failure& failure) {
  Gpu gpu;
  FieldReader fields(value, path, failure);
  fields.text("pci_address", gpu.pci_address);
  fields.text("vendor", gpu.vendor);
  fields.text("device_id", gpu.device_id);
  fields.node("node", gpu.node);
  fields.text("driver", gpu.driver);
  // Snapshots of before there was a path know nothing of all that follows.
  if (fields.failed() || !value.contains("path")) return gpu;
  fields.array("path", [&](const json& item, const std::string& where) {
    gpu.path.push_back(read_step(item, where, failure));
  });
  fields.node("memory_node", gpu.memory_node);
  fields.text("runtime", gpu.runtime);
  fields.whole("index", gpu.index, 0, most_id);
  fields.text("name", gpu.name);
  fields.bytes("memory", gpu.memory);
  return gpu;
}

PersistentMemory read_persistent(const json& value, const std::string& path, Failure& failure) {
  PersistentMemory memory;
  FieldReader fields(value, path, failure);
  fields.text("name", memory.name);
  fields.text("mode", memory.mode);
  fields.bytes("size", memory.size);
  fields.node("node", memory.node);
  fields.node("target_node", memory.target_node);
  return memory;
}

Setting read_setting(const json& value, const std::string& path, Failure& failure) {
  Setting setting;
  FieldReader fields(value, path, failure);
  fields.text("name", setting.name);
  fields.text("value", setting.value);
  fields.text("source", setting.source);
  fields.text("warning", setting.warning);
  return setting;
}

Allowance read_allowance(const json& value, const std::string& path, Failure& failure) {
  Allowance allowance;
  FieldReader fields(value, path, failure);
  fields.list("affinity", allowance.affinity);
  fields.list("cpuset", allowance.cpuset);
  fields.list("memory_nodes", allowance.memory_nodes);
  fields.bytes("memory_limit", allowance.memory_limit);
  fields.bytes("memory_used", allowance.memory_used);
  fields.bytes("memory_cache", allowance.memory_cache);
  fields.text("memory_limit_source", allowance.memory_limit_source);
  // Older snapshots, and those without a quota, have none.
  if (fields.failed() || !value.contains("cpu_quota")) return allowance;
  fields.real("cpu_quota", allowance.cpu_quota);
  fields.text("cpu_quota_source", allowance.cpu_quota_source);
  if (allowance.cpu_quota.value_or(1) <= 0) fields.reject("cpu_quota", "must be more than 0");
  return allowance;
}

template <class T, class Read>
void read_array(FieldReader& fields, const char* name, std::vector<T>& out, Failure& failure,
                Read read) {
  fields.array(name, [&](const json& item, const std::string& path) {
    out.push_back(read(item, path, failure));
  });
}

void read_unread(const json& value, Machine& machine, Failure& failure) {
  FieldReader fields(value, "unread", failure);
  if (!value.is_object()) return;
  for (const auto& [name, why] : value.items()) fields.text(name.c_str(), machine.unread[name]);
}

/// Puts items in the order that lookups rely on; a number given twice is an error.
template <class T>
void order_by_id(FieldReader& fields, const char* name, std::vector<T>& items) {
  std::sort(items.begin(), items.end(), [](const T& a, const T& b) { return a.id < b.id; });
  const auto twice = std::adjacent_find(items.begin(), items.end(),
                                        [](const T& a, const T& b) { return a.id == b.id; });
  if (twice != items.end()) {
    fields.reject(name, fmt::format("has the id {} twice", twice->id.value));
  }
}

/// What one part says of another must be there: planning relies on it.
void check_references(FieldReader& fields, const Machine& machine) {
  if (fields.failed()) return;
  if (machine.cpus.empty()) return fields.reject("cpus", "must not be empty");
  if (machine.nodes.empty()) return fields.reject("nodes", "must not be empty");
  const CpuSet all = machine.all_cpus();
  for (const NumaNode& node : machine.nodes) {
    for (CpuId id : node.cpus) {
      const Cpu* cpu = machine.find_cpu(id);
      if (cpu == nullptr) {
        return fields.reject(
            "nodes", fmt::format("gives node {} the CPU {}, which is not in 'cpus'", node.id.value,
                                 id.value));
      }
      // Several nodes may have a CPU; its own is one of them.
      if (cpu->node.value < 0) {
        return fields.reject("nodes", fmt::format("gives node {} the CPU {}, which 'cpus' puts on "
                                                  "none",
                                                  node.id.value, id.value));
      }
    }
  }
  for (const Cpu& cpu : machine.cpus) {
    const NumaNode* node = machine.find_node(cpu.node);
    if (cpu.node.value >= 0 && (node == nullptr || !node->cpus.contains(cpu.id))) {
      return fields.reject("cpus", fmt::format("puts CPU {} on node {}, which does not have it",
                                               cpu.id.value, cpu.node.value));
    }
  }
  for (const auto& [name, set] : {std::pair("allowance.affinity", machine.allowance.affinity),
                                  std::pair("allowance.cpuset", machine.allowance.cpuset),
                                  std::pair("isolated_cpus", machine.isolated_cpus)}) {
    if (!(set - all).empty()) {
      return fields.reject(name,
                           fmt::format("has CPUs that are not in 'cpus': {}", to_list(set - all)));
    }
  }
}

}  // namespace

Expected<Machine> machine_from_json(const json& snapshot) {
  if (snapshot.is_object() && (snapshot.contains("cases") || snapshot.contains("results")))
    return fail(ErrorKind::usage, "it has results, and is no machine",
                "use topology.json of the survey's folder, or what numatlas topology --format json "
                "prints");
  Failure failure;
  Machine machine;
  FieldReader fields(snapshot, "", failure);
  int version = 0;
  fields.whole("schema_version", version, 1, INT32_MAX);
  if (!failure && version != snapshot_schema_version) {
    fields.reject("schema_version",
                  fmt::format("is {}; this program reads {}", version, snapshot_schema_version));
  }
  fields.text("source", machine.source);
  fields.text("host", machine.host);
  fields.text("os", machine.os);
  fields.text("arch", machine.arch);
  fields.text("cpu_model", machine.cpu_model);
  fields.bytes("page_size", machine.page_size);
  if (fields.field("hypervisor", true) != nullptr) {
    fields.text("hypervisor", machine.hypervisor.emplace());
  }
  read_array(fields, "nodes", machine.nodes, failure, read_node);
  read_array(fields, "cpus", machine.cpus, failure, read_cpu);
  // Older snapshots, and those of machines whose CPUs are all alike, have none.
  if (!fields.failed() && snapshot.contains("cpu_kinds"))
    read_array(fields, "cpu_kinds", machine.cpu_kinds, failure, read_kind);
  read_array(fields, "caches", machine.caches, failure, read_cache);
  read_array(fields, "gpus", machine.gpus, failure, read_gpu);
  read_array(fields, "persistent_memory", machine.persistent_memory, failure, read_persistent);
  read_array(fields, "settings", machine.settings, failure, read_setting);
  if (const json* allowance = fields.field("allowance")) {
    machine.allowance = read_allowance(*allowance, "allowance", failure);
  }
  if (!fields.failed() && snapshot.contains("isolated_cpus"))
    fields.list("isolated_cpus", machine.isolated_cpus);
  // Older snapshots, and those of machines that tell nothing of their modules, have none.
  if (!fields.failed() && snapshot.contains("memory_slots"))
    machine.memory_slots = read_slots(snapshot["memory_slots"], "memory_slots", failure);
  fields.array("notes", [&](const json& item, const std::string& path) {
    if (!item.is_string())
      return FieldReader(json::object(), "", failure).reject(path, "must be a string");
    machine.notes.push_back(item.get<std::string>());
  });
  // Only where something is unknown.
  if (!fields.failed() && snapshot.contains("unread"))
    read_unread(snapshot["unread"], machine, failure);
  order_by_id(fields, "nodes", machine.nodes);
  order_by_id(fields, "cpus", machine.cpus);
  check_references(fields, machine);
  if (failure) return fail(*failure);
  return machine;
}

}  // namespace numatlas

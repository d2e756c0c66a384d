// The snapshot format. Absent facts are null; CPU and node sets are kernel lists ("0-3,7").
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/snapshot_reader.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;

/// Strings come from files, and the command line: bytes that are not UTF-8 cannot stand in JSON.
json text(const std::string& value) {
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x80) continue;
    return json::parse(json(value).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  return value;
}

json number(std::optional<Bytes> bytes) { return bytes ? json(bytes->value) : json(nullptr); }
json number(std::optional<double> value) { return value ? json(*value) : json(nullptr); }
json number(std::optional<int> value) { return value ? json(*value) : json(nullptr); }
json number(std::optional<NodeId> id) { return id ? json(id->value) : json(nullptr); }
/// -1 is "none" in memory and null outside.
json known(int value) { return value < 0 ? json(nullptr) : json(value); }

json hmat_json(const std::optional<HmatFigures>& hmat) {
  if (!hmat) return nullptr;
  json value{{"initiators", to_list(hmat->initiators)},
             {"read_bandwidth", number(hmat->read_bandwidth)},
             {"write_bandwidth", number(hmat->write_bandwidth)},
             {"read_latency", number(hmat->read_latency)},
             {"write_latency", number(hmat->write_latency)}};
  if (hmat->measured) value["measured"] = true;
  return value;
}

json node_json(const NumaNode& node) {
  json distance = json::object();
  for (const auto& [other, value] : node.distance) distance[std::to_string(other)] = value;
  json pools = json::array();
  for (const HugePagePool& pool : node.huge_pages) {
    pools.push_back(
        {{"page_size", pool.page_size.value}, {"total", pool.total}, {"free", pool.free}});
  }
  json value{{"id", node.id.value},
             {"cpus", to_list(node.cpus)},
             {"memory_total", number(node.memory_total)},
             {"memory_free", number(node.memory_free)},
             {"memory_cache", number(node.memory_cache)},
             {"distance", distance},
             {"hmat", hmat_json(node.hmat)},
             {"memory_tier", number(node.memory_tier)},
             {"huge_pages", pools},
             {"kind", text(node.kind)}};
  for (const MemorySideCache& cache : node.side_caches) {
    value["memory_side_caches"].push_back({{"level", cache.level},
                                           {"size", cache.size.value},
                                           {"line_size", number(cache.line_size)}});
  }
  return value;
}

json cpu_json(const Cpu& cpu) {
  return {{"id", cpu.id.value},
          {"core", known(cpu.core)},
          {"package", known(cpu.package)},
          {"node", known(cpu.node.value)},
          {"smt_index", cpu.smt_index}};
}

json kind_json(const CpuKind& kind) {
  return {{"name", text(kind.name)},
          {"model", text(kind.model)},
          {"capacity", number(kind.capacity)},
          {"cpus", to_list(kind.cpus)}};
}

json cache_json(const Cache& cache) {
  return {{"level", cache.level},
          {"type", text(cache.type)},
          {"size", cache.size.value},
          {"line_size", number(cache.line_size)},
          {"cpus", to_list(cache.cpus)}};
}

json step_json(const PciStep& step) {
  return {{"pci_address", text(step.pci_address)},
          {"speed", number(step.link.speed)},
          {"width", number(step.link.width)},
          {"max_speed", number(step.link.max_speed)},
          {"max_width", number(step.link.max_width)}};
}

json gpu_json(const Gpu& gpu) {
  json path = json::array();
  for (const PciStep& step : gpu.path) path.push_back(step_json(step));
  return {{"pci_address", text(gpu.pci_address)},
          {"vendor", text(gpu.vendor)},
          {"device_id", text(gpu.device_id)},
          {"node", number(gpu.node)},
          {"driver", text(gpu.driver)},
          {"path", path},
          {"memory_node", number(gpu.memory_node)},
          {"runtime", text(gpu.runtime)},
          {"index", number(gpu.index)},
          {"name", text(gpu.name)},
          {"memory", number(gpu.memory)}};
}

json persistent_json(const PersistentMemory& memory) {
  return {{"name", text(memory.name)},
          {"mode", text(memory.mode)},
          {"size", number(memory.size)},
          {"node", number(memory.node)},
          {"target_node", number(memory.target_node)}};
}

json setting_json(const Setting& setting) {
  return {{"name", text(setting.name)},
          {"value", text(setting.value)},
          {"source", text(setting.source)},
          {"warning", text(setting.warning)}};
}

json allowance_json(const Allowance& allowance) {
  json value{{"affinity", to_list(allowance.affinity)},
             {"cpuset", to_list(allowance.cpuset)},
             {"memory_nodes", to_list(allowance.memory_nodes)},
             {"memory_limit", number(allowance.memory_limit)},
             {"memory_used", number(allowance.memory_used)},
             {"memory_cache", number(allowance.memory_cache)},
             {"memory_limit_source", text(allowance.memory_limit_source)}};
  if (allowance.cpu_quota) {
    value["cpu_quota"] = *allowance.cpu_quota;
    value["cpu_quota_source"] = text(allowance.cpu_quota_source);
  }
  return value;
}

template <class T, class Write>
json array_of(const std::vector<T>& items, Write write) {
  json array = json::array();
  for (const T& item : items) array.push_back(write(item));
  return array;
}

}  // namespace

json to_json(const Machine& machine) {
  json snapshot{{"schema_version", snapshot_schema_version},
                {"source", text(machine.source)},
                {"host", text(machine.host)},
                {"os", text(machine.os)},
                {"arch", text(machine.arch)},
                {"cpu_model", text(machine.cpu_model)},
                {"page_size", number(machine.page_size)},
                {"hypervisor", machine.hypervisor ? text(*machine.hypervisor) : json(nullptr)},
                {"nodes", array_of(machine.nodes, node_json)},
                {"cpus", array_of(machine.cpus, cpu_json)},
                {"caches", array_of(machine.caches, cache_json)},
                {"gpus", array_of(machine.gpus, gpu_json)},
                {"persistent_memory", array_of(machine.persistent_memory, persistent_json)},
                {"settings", array_of(machine.settings, setting_json)},
                {"allowance", allowance_json(machine.allowance)},
                {"notes", array_of(machine.notes, text)}};
  if (!machine.cpu_kinds.empty()) snapshot["cpu_kinds"] = array_of(machine.cpu_kinds, kind_json);
  if (!machine.isolated_cpus.empty()) snapshot["isolated_cpus"] = to_list(machine.isolated_cpus);
  if (machine.memory_slots != MemorySlots{})
    snapshot["memory_slots"] = to_json(machine.memory_slots);
  for (const auto& [name, why] : machine.unread) snapshot["unread"][name] = text(why);
  return snapshot;
}

}  // namespace numatlas

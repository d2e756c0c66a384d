// The snapshot format. Absent facts are null; CPU and node sets are kernel lists ("0-3,7"). Fields
// that older snapshots lack, or that most machines have nothing for, may be missing.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fields.h"
#include "machine/identity_fields.h"
#include "machine/source.h"

namespace numatlas {

template <>
struct fields::EnumNames<Limit::Of> {
  static constexpr fields::EnumName<Limit::Of> values[] = {
      {Limit::Of::memory, "memory"},
      {Limit::Of::huge_pages, "huge_pages"},
      {Limit::Of::address_space, "address_space"},
      {Limit::Of::data, "data"},
      {Limit::Of::processes, "processes"}};
};

namespace {

using fields::Of;
using nlohmann::json;

/// Version of the format that this program writes and reads.
constexpr int snapshot_schema_version = 1;

constexpr int most_id = 1 << 20;     // as base/ids reads lists
constexpr int most_level = 16;       // caches have up to 5 today
constexpr int most_lanes = 1024;     // a PCIe link has up to 32 today
constexpr int most_distance = 4096;  // the firmware's table has one byte a pair; room for others
constexpr int most_width = 1 << 16;  // the firmware's field of a module has 16 bits

}  // namespace

void list_fields(auto& f, Of<HmatFigures> auto& h) {
  f("initiators", h.initiators);
  f.amount("read_bandwidth", h.read_bandwidth);
  f.amount("write_bandwidth", h.write_bandwidth);
  f.amount("read_latency", h.read_latency);
  f.amount("write_latency", h.write_latency);
  f.sparse("measured", h.measured);
}

void list_fields(auto& f, Of<HugePagePool> auto& p) {
  f("page_size", p.page_size.value);
  f("total", p.total);
  f("free", p.free);
}

void list_fields(auto& f, Of<MemorySideCache> auto& c) {
  f.whole("level", c.level, 1, most_level);
  f("size", c.size.value);
  f("line_size", c.line_size);
}

void list_fields(auto& f, Of<NumaNode> auto& n) {
  f.whole("id", n.id.value, 0, most_id);
  f("cpus", n.cpus);
  f("memory_total", n.memory_total);
  f("memory_free", n.memory_free);
  f("memory_cache", n.memory_cache);
  f("distance", n.distance);
  f("hmat", n.hmat);
  f.whole("memory_tier", n.memory_tier, 0, most_id);
  f("huge_pages", n.huge_pages);
  f.text("kind", n.kind);
  f.sparse("memory_side_caches", n.side_caches);
}
std::string problem_of(const NumaNode& node) {
  for (const auto& [other, distance] : node.distance) {
    if (other < 0 || other > most_id) return fmt::format("has a distance to node {}", other);
    if (distance < 0 || distance > most_distance)
      return fmt::format("has the distance {}, which is not from 0 to {}", distance, most_distance);
  }
  return "";
}

void list_fields(auto& f, Of<Cpu> auto& c) {
  f.whole("id", c.id.value, 0, most_id);
  f.whole_or_none("core", c.core, 0, most_id);
  f.whole_or_none("package", c.package, 0, INT32_MAX);
  f.whole_or_none("node", c.node.value, 0, most_id);
  f.whole("smt_index", c.smt_index, 0, most_id);
}

void list_fields(auto& f, Of<CpuKind> auto& k) {
  f.text("name", k.name);
  f.text("model", k.model);
  f.whole("capacity", k.capacity, 1, INT32_MAX);
  f("cpus", k.cpus);
}

void list_fields(auto& f, Of<Cache> auto& c) {
  f.whole("level", c.level, 1, most_level);
  f.text("type", c.type);
  f("size", c.size.value);
  f("line_size", c.line_size);
  f("cpus", c.cpus);
}
std::string problem_of(const Cache& cache) {
  const bool known = cache.type == "data" || cache.type == "instruction" || cache.type == "unified";
  return known ? ""
               : fmt::format("has the type '{}', not data, instruction or unified", cache.type);
}

void list_fields(auto& f, Of<PciStep> auto& s) {
  f.text("pci_address", s.pci_address);
  f.amount("speed", s.link.speed);
  f.whole("width", s.link.width, 1, most_lanes);
  f.amount("max_speed", s.link.max_speed);
  f.whole("max_width", s.link.max_width, 1, most_lanes);
}

void list_fields(auto& f, Of<Gpu> auto& g) {
  f.text("pci_address", g.pci_address);
  f.text("vendor", g.vendor);
  f.text("device_id", g.device_id);
  f("node", g.node);
  f.text("driver", g.driver);
  f("path", g.path);
  f("memory_node", g.memory_node);
  f.text("runtime", g.runtime);
  f.whole("index", g.index, 0, most_id);
  f.text("name", g.name);
  f("memory", g.memory);
  f.sparse("multiprocessors", g.multiprocessors);
  f.sparse("shared_cache", g.shared_cache);
  f.sparse("memory_bandwidth", g.memory_bandwidth);
  f.sparse("mig", g.mig);
}

void list_fields(auto& f, Of<PersistentMemory> auto& m) {
  f.text("name", m.name);
  f.text("mode", m.mode);
  f("size", m.size);
  f("node", m.node);
  f("target_node", m.target_node);
}

void list_fields(auto& f, Of<Setting> auto& s) {
  f.text("name", s.name);
  f.text("value", s.value);
  f.text("source", s.source);
  f.text("warning", s.warning);
}

void list_fields(auto& f, Of<Limit> auto& l) {
  f("of", l.of);
  f("most", l.most.value);
  f("used", l.used);
  f.sparse("page_size", l.page_size);
  f.text("source", l.source);
}

void list_fields(auto& f, Of<Allowance> auto& a) {
  f("affinity", a.affinity);
  f("cpuset", a.cpuset);
  f("memory_nodes", a.memory_nodes);
  f("memory_limit", a.memory_limit);
  f("memory_used", a.memory_used);
  f("memory_cache", a.memory_cache);
  f.text("memory_limit_source", a.memory_limit_source);
  f.sparse("cpu_quota", a.cpu_quota);
  f.sparse("cpu_quota_source", a.cpu_quota_source);
  f.sparse("other_limits", a.other_limits);
}
std::string problem_of(const Allowance& allowance) {
  return allowance.cpu_quota.value_or(1) > 0 ? "" : "has a cpu_quota that is not more than 0";
}

void list_fields(auto& f, Of<MemorySlot> auto& s) {
  f.text("name", s.name);
  f.text("socket", s.socket);
  f.text("channel", s.channel);
  f("size", s.size);
  f.text("type", s.type);
  f.amount("rated_speed", s.rated_speed);
  f.amount("configured_speed", s.configured_speed);
  f.whole("width", s.width, 1, most_width);
}

void list_fields(auto& f, Of<MemorySlots> auto& s) {
  f.text("source", s.source);
  f.text("problem", s.problem);
  f("slots", s.slots);
  // For readers of the file: it follows from the slots.
  std::string why;
  std::optional<double> peak;
  if (f.writes) peak = peak_of(s, why);
  f.sparse("peak_bandwidth", peak);
}

void list_fields(auto& f, Of<Machine> auto& m) {
  f.text("source", m.source);
  f.text("host", m.host);
  f.sparse("identity", m.identity);
  f.text("os", m.os);
  f.text("arch", m.arch);
  f.text("cpu_model", m.cpu_model);
  f("page_size", m.page_size);
  f("hypervisor", m.hypervisor);
  f("nodes", m.nodes);
  f("cpus", m.cpus);
  f.sparse("cpu_kinds", m.cpu_kinds);
  f("caches", m.caches);
  f("gpus", m.gpus);
  f("persistent_memory", m.persistent_memory);
  f("settings", m.settings);
  f("allowance", m.allowance);
  f.sparse("isolated_cpus", m.isolated_cpus);
  f.sparse("memory_slots", m.memory_slots);
  f("notes", m.notes);
  f.sparse("unread", m.unread);
}

namespace {

/// Puts items in the order that lookups rely on; whether a number is given twice.
template <class T>
std::optional<int> order_by_id(std::vector<T>& items) {
  std::ranges::sort(items, {}, &T::id);
  const auto twice = std::ranges::adjacent_find(items, {}, &T::id);
  return twice == items.end() ? std::nullopt : std::optional(twice->id.value);
}

/// What one part says of another must be there: planning relies on it. The field that is wrong, and
/// why.
std::optional<fields::Problem> wrong_reference(const Machine& machine) {
  if (machine.cpus.empty()) return fields::Problem{"cpus", "must not be empty"};
  if (machine.nodes.empty()) return fields::Problem{"nodes", "must not be empty"};
  for (const NumaNode& node : machine.nodes) {
    for (CpuId id : node.cpus) {
      const Cpu* cpu = machine.find_cpu(id);
      // Several nodes may have a CPU; its own is one of them.
      if (cpu == nullptr || cpu->node.value < 0)
        return fields::Problem{
            "nodes", fmt::format("gives node {} the CPU {}, which {}", node.id.value, id.value,
                                 cpu == nullptr ? "is not in 'cpus'" : "'cpus' puts on none")};
    }
  }
  for (const Cpu& cpu : machine.cpus) {
    const NumaNode* node = machine.find_node(cpu.node);
    if (cpu.node.value >= 0 && (node == nullptr || !node->cpus.contains(cpu.id)))
      return fields::Problem{"cpus", fmt::format("puts CPU {} on node {}, which does not have it",
                                                 cpu.id.value, cpu.node.value)};
  }
  const CpuSet all = machine.all_cpus();
  for (const auto& [name, set] : {std::pair("allowance.affinity", machine.allowance.affinity),
                                  std::pair("allowance.cpuset", machine.allowance.cpuset),
                                  std::pair("isolated_cpus", machine.isolated_cpus)}) {
    if (!(set - all).empty())
      return fields::Problem{
          name, fmt::format("has CPUs that are not in 'cpus': {}", to_list(set - all))};
  }
  return std::nullopt;
}

tl::unexpected<Error> wrong_snapshot(const fields::Problem& problem) {
  return fail(ErrorKind::usage,
              problem.path.empty() ? "the snapshot " + problem.why
                                   : fmt::format("field '{}' {}", problem.path, problem.why),
              "is it a snapshot of 'numatlas topology --format json'?");
}

}  // namespace

json to_json(const MemorySlots& slots) { return fields::to_json(slots); }

json to_json(const Machine& machine) {
  json snapshot = fields::to_json(machine);
  snapshot["schema_version"] = snapshot_schema_version;
  return snapshot;
}

Expected<Machine> machine_from_json(const json& snapshot) {
  if (snapshot.is_object() && (snapshot.contains("cases") || snapshot.contains("results")))
    return fail(ErrorKind::usage, "it has results, and is no machine",
                "use topology.json of the survey's folder, or what numatlas topology --format json "
                "prints");
  std::optional<fields::Problem> problem;
  Machine machine;
  int version = snapshot_schema_version;
  const fields::Place whole("", problem);
  if (snapshot.is_object())
    fields::Reader(snapshot, whole).whole("schema_version", version, 1, INT32_MAX);
  if (version != snapshot_schema_version)
    whole.at("schema_version")
        .reject(fmt::format("is {}; this program reads {}", version, snapshot_schema_version));
  fields::from_json(snapshot, whole, machine);
  if (problem) return wrong_snapshot(*problem);
  for (const auto& [name, id] : {std::pair("nodes", order_by_id(machine.nodes)),
                                 std::pair("cpus", order_by_id(machine.cpus))}) {
    if (id) return wrong_snapshot({name, fmt::format("has the id {} twice", *id)});
  }
  if (const auto wrong = wrong_reference(machine)) return wrong_snapshot(*wrong);
  return machine;
}

}  // namespace numatlas

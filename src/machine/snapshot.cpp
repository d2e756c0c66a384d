// The snapshot format. Absent facts are null; CPU and node sets are kernel lists ("0-3,7"). Fields
// that older snapshots lack, or that most machines have nothing for, may be missing.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
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
      {Limit::Of::processes, "processes"},
      {Limit::Of::cpu_time, "cpu_time"},
      {Limit::Of::file_size, "file_size"}};
};

namespace {

using fields::Of;
using nlohmann::json;

/// Version of the format that this program writes and reads.
constexpr int snapshot_schema_version = 1;

constexpr int most_level = 16;       // caches have up to 5 today
constexpr int most_lanes = 1024;     // a PCIe link has up to 32 today
constexpr int most_distance = 4096;  // the firmware's table has one byte a pair; room for others
constexpr int most_width = 1 << 16;  // the firmware's field of a module has 16 bits

/// A number of a snapshot, where it is not absent, and what it may be.
struct Bounded {
  const char* name;
  std::optional<double> value;
  double least = 0, most = std::numeric_limits<double>::infinity();
};

/// What is wrong with the first that is not within its bounds; "" where all are.
std::string out_of_bounds(std::initializer_list<Bounded> numbers) {
  for (const auto& [name, value, least, most] : numbers) {
    if (!value || (*value >= least && *value <= most)) continue;
    return fmt::format("has the {} {}, which is not {}", name, *value,
                       std::isinf(most) ? fmt::format("{} or more", least)
                                        : fmt::format("from {} to {}", least, most));
  }
  return "";
}

}  // namespace

void list_fields(auto& f, Of<HmatFigures> auto& h) {
  f("initiators", h.initiators);
  f("read_bandwidth", h.read_bandwidth);
  f("write_bandwidth", h.write_bandwidth);
  f("read_latency", h.read_latency);
  f("write_latency", h.write_latency);
  f.sparse("measured", h.measured);
}
std::string problem_of(const HmatFigures& h) {
  return out_of_bounds({{"read_bandwidth", h.read_bandwidth},
                        {"write_bandwidth", h.write_bandwidth},
                        {"read_latency", h.read_latency},
                        {"write_latency", h.write_latency}});
}

void list_fields(auto& f, Of<HugePagePool> auto& p) {
  f("page_size", p.page_size.value);
  f("total", p.total);
  f("free", p.free);
}

void list_fields(auto& f, Of<MemorySideCache> auto& c) {
  f("level", c.level);
  f("size", c.size.value);
  f("line_size", c.line_size);
}
std::string problem_of(const MemorySideCache& cache) {
  return out_of_bounds({{"level", cache.level, 1, most_level}});
}

void list_fields(auto& f, Of<NumaNode> auto& n) {
  f("id", n.id);
  f("cpus", n.cpus);
  f("memory_total", n.memory_total);
  f("memory_free", n.memory_free);
  f("memory_cache", n.memory_cache);
  f("distance", n.distance);
  f("hmat", n.hmat);
  f("memory_tier", n.memory_tier);
  f("huge_pages", n.huge_pages);
  f("kind", n.kind);
  f.sparse("memory_side_caches", n.side_caches);
}
std::string problem_of(const NumaNode& node) {
  if (node.id.value < 0) return "has no id";
  for (const auto& [other, distance] : node.distance) {
    if (other < 0 || other > most_id) return fmt::format("has a distance to node {}", other);
    if (distance < 0 || distance > most_distance)
      return fmt::format("has the distance {}, which is not from 0 to {}", distance, most_distance);
  }
  return out_of_bounds({{"memory_tier", node.memory_tier, 0, most_id}});
}

void list_fields(auto& f, Of<Cpu> auto& c) {
  f("id", c.id);
  f("core", c.core);
  f("package", c.package);
  f("node", c.node);
  f("smt_index", c.smt_index);
}
std::string problem_of(const Cpu& cpu) {
  if (cpu.id.value < 0) return "has no id";
  return out_of_bounds({{"core", cpu.core, 0, most_id},
                        {"package", cpu.package},
                        {"smt_index", cpu.smt_index, 0, most_id}});
}

void list_fields(auto& f, Of<CpuKind> auto& k) {
  f("name", k.name);
  f("model", k.model);
  f("capacity", k.capacity);
  f("cpus", k.cpus);
}
std::string problem_of(const CpuKind& kind) {
  return out_of_bounds({{"capacity", kind.capacity, 1}});
}

void list_fields(auto& f, Of<Cache> auto& c) {
  f("level", c.level);
  f("type", c.type);
  f("size", c.size.value);
  f("line_size", c.line_size);
  f("cpus", c.cpus);
}
std::string problem_of(const Cache& cache) {
  const bool known = cache.type == "data" || cache.type == "instruction" || cache.type == "unified";
  if (!known) return fmt::format("has the type '{}', not data, instruction or unified", cache.type);
  return out_of_bounds({{"level", cache.level, 1, most_level}});
}

void list_fields(auto& f, Of<PciStep> auto& s) {
  f("pci_address", s.pci_address);
  f("speed", s.link.speed);
  f("width", s.link.width);
  f("max_speed", s.link.max_speed);
  f("max_width", s.link.max_width);
}
std::string problem_of(const PciStep& step) {
  return out_of_bounds({{"speed", step.link.speed},
                        {"width", step.link.width, 1, most_lanes},
                        {"max_speed", step.link.max_speed},
                        {"max_width", step.link.max_width, 1, most_lanes}});
}

void list_fields(auto& f, Of<Gpu> auto& g) {
  f("pci_address", g.pci_address);
  f("vendor", g.vendor);
  f("device_id", g.device_id);
  f("node", g.node);
  f("driver", g.driver);
  f("path", g.path);
  f("memory_node", g.memory_node);
  f("runtime", g.runtime);
  f("index", g.index);
  f("name", g.name);
  f("memory", g.memory);
  f.sparse("multiprocessors", g.multiprocessors);
  f.sparse("shared_cache", g.shared_cache);
  f.sparse("memory_bandwidth", g.memory_bandwidth);
  f.sparse("mig", g.mig);
}
std::string problem_of(const Gpu& gpu) { return out_of_bounds({{"index", gpu.index, 0, most_id}}); }

void list_fields(auto& f, Of<PersistentMemory> auto& m) {
  f("name", m.name);
  f("mode", m.mode);
  f("size", m.size);
  f("node", m.node);
  f("target_node", m.target_node);
}

void list_fields(auto& f, Of<Setting> auto& s) {
  f("name", s.name);
  f("value", s.value);
  f("source", s.source);
  f("warning", s.warning);
}

void list_fields(auto& f, Of<Limit> auto& l) {
  f("of", l.of);
  f("most", l.most);
  f("used", l.used);
  f.sparse("page_size", l.page_size);
  f("source", l.source);
}

void list_fields(auto& f, Of<Allowance> auto& a) {
  f("affinity", a.affinity);
  f("cpuset", a.cpuset);
  f("memory_nodes", a.memory_nodes);
  f("memory_limit", a.memory_limit);
  f("memory_used", a.memory_used);
  f("memory_cache", a.memory_cache);
  f("memory_limit_source", a.memory_limit_source);
  f.sparse("cpu_quota", a.cpu_quota);
  f.sparse("cpu_quota_source", a.cpu_quota_source);
  f.sparse("other_limits", a.other_limits);
}
std::string problem_of(const Allowance& allowance) {
  return allowance.cpu_quota.value_or(1) > 0 ? "" : "has a cpu_quota that is not more than 0";
}

void list_fields(auto& f, Of<MemorySlot> auto& s) {
  f("name", s.name);
  f("socket", s.socket);
  f("channel", s.channel);
  f("size", s.size);
  f("type", s.type);
  f("rated_speed", s.rated_speed);
  f("configured_speed", s.configured_speed);
  f("width", s.width);
}
std::string problem_of(const MemorySlot& slot) {
  return out_of_bounds({{"rated_speed", slot.rated_speed},
                        {"configured_speed", slot.configured_speed},
                        {"width", slot.width, 1, most_width}});
}

void list_fields(auto& f, Of<MemorySlots> auto& s) {
  f("source", s.source);
  f("problem", s.problem);
  f("slots", s.slots);
  // For readers of the file: it follows from the slots.
  std::string why;
  std::optional<double> peak;
  if (f.writes) peak = peak_of(s, why);
  f.sparse("peak_bandwidth", peak);
}

void list_fields(auto& f, Of<Machine> auto& m) {
  f("source", m.source);
  f("host", m.host);
  f.sparse("identity", m.identity);
  f("os", m.os);
  f("arch", m.arch);
  f("cpu_model", m.cpu_model);
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
  const fields::ExactNumbers exact;
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
  if (snapshot.is_object()) fields::Reader(snapshot, whole)("schema_version", version);
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

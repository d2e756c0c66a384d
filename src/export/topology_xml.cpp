// A Machine as XML of hwloc 2. libhwloc has no calls that build a topology; its XML is the
// documented way in, and it checks what it reads.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hwloc.h>
#include <pugixml.hpp>

#include "export/hwloc_xml.h"

namespace numatlas {
namespace {

/// How objects with the same CPUs contain each other.
enum class Level { machine, package, group, cache, core, pu };

struct Object {
  Level level = Level::machine;
  std::string type;
  int os_index = -1;
  CpuSet cpus;
  const Cache* cache = nullptr;
  std::vector<const NumaNode*> memory;  ///< attached here
  std::vector<std::unique_ptr<Object>> children;
  NodeSet nodes;  ///< attached here, above or below
};

template <class I>
std::string bitmap_text(const IdSet<I>& set) {
  hwloc_bitmap_t bits = hwloc_bitmap_alloc();
  for (const I id : set) hwloc_bitmap_set(bits, static_cast<unsigned>(id.value));
  char* text = nullptr;
  const bool done = hwloc_bitmap_asprintf(&text, bits) >= 0;
  std::string result = done ? text : "0x0";
  std::free(text);
  hwloc_bitmap_free(bits);
  return result;
}

/// CPUs that a node is nearest to: its own; else those that the firmware says, else those of the
/// nodes at the least distance, else all.
CpuSet locality_of(const NumaNode& node, const Machine& machine) {
  if (!node.cpus.empty()) return node.cpus;
  CpuSet cpus;
  if (node.hmat) {
    for (const NodeId id : node.hmat->initiators) {
      if (const NumaNode* near = machine.find_node(id)) cpus = cpus | near->cpus;
    }
  }
  if (!cpus.empty()) return cpus;
  int least = 0;
  for (const NumaNode& other : machine.nodes) {
    const auto found = node.distance.find(other.id.value);
    if (other.cpus.empty() || found == node.distance.end()) continue;
    if (!cpus.empty() && found->second > least) continue;
    if (cpus.empty() || found->second < least) cpus = {};
    least = found->second;
    cpus = cpus | other.cpus;
  }
  return cpus.empty() ? machine.all_cpus() : cpus;
}

std::string cache_type(const Cache& cache) {
  return fmt::format("L{}{}Cache", cache.level, cache.type == "instruction" ? "i" : "");
}

/// Those that hwloc has: data and unified caches of five levels, instruction caches of three.
bool is_known(const Cache& cache) {
  return cache.level >= 1 && cache.level <= (cache.type == "instruction" ? 3 : 5);
}

using Objects = std::vector<std::unique_ptr<Object>>;

void add(Objects& objects, Level level, std::string type, int os_index, const CpuSet& cpus,
         const Cache* cache = nullptr) {
  if (cpus.empty()) return;
  objects.push_back(std::make_unique<Object>());
  Object& object = *objects.back();
  object.level = level;
  object.type = std::move(type);
  object.os_index = os_index;
  object.cpus = cpus;
  object.cache = cache;
}

/// All but the machine itself and its nodes, from large to small: what comes later lies within what
/// came before it, or beside it.
Objects objects_of(const Machine& machine) {
  std::map<int, CpuSet> packages, cores;
  for (const Cpu& cpu : machine.cpus) {
    if (cpu.package >= 0) packages[cpu.package].insert(cpu.id);
    if (cpu.core >= 0) cores[cpu.core].insert(cpu.id);
  }
  Objects objects;
  for (const auto& [number, cpus] : packages) add(objects, Level::package, "Package", number, cpus);
  for (const NumaNode& node : machine.nodes) {
    const CpuSet cpus = locality_of(node, machine) & machine.all_cpus();
    const auto same = [&](const auto& other) { return other->cpus == cpus; };
    if (cpus == machine.all_cpus() || std::any_of(objects.begin(), objects.end(), same)) continue;
    add(objects, Level::group, "Group", -1, cpus);
  }
  for (const Cache& cache : machine.caches) {
    if (is_known(cache))
      add(objects, Level::cache, cache_type(cache), -1, cache.cpus & machine.all_cpus(), &cache);
  }
  for (const auto& [number, cpus] : cores) add(objects, Level::core, "Core", -1, cpus);
  for (const Cpu& cpu : machine.cpus) add(objects, Level::pu, "PU", cpu.id.value, CpuSet{cpu.id});
  const auto order = [](const Object& object) {
    const int level = object.cache == nullptr ? 0 : object.cache->level;
    const bool instructions = object.cache != nullptr && object.cache->type == "instruction";
    return std::tuple(-static_cast<int>(object.cpus.size()), object.level, -level, instructions,
                      object.cpus.front());
  };
  std::stable_sort(objects.begin(), objects.end(),
                   [&](const auto& a, const auto& b) { return order(*a) < order(*b); });
  return objects;
}

/// The smallest object so far that has a CPU, by CPU.
using Deepest = std::map<CpuId, Object*>;

/// Puts an object into the tree. One that crosses another stays out: hwloc has trees only.
void insert(std::unique_ptr<Object> object, Deepest& deepest) {
  Object* const parent = deepest[object->cpus.front()];
  for (const CpuId cpu : object->cpus) {
    if (deepest[cpu] != parent) return;
  }
  for (const CpuId cpu : object->cpus) deepest[cpu] = object.get();
  parent->children.push_back(std::move(object));
}

/// The outermost object with these CPUs, below the machine where there is one that is no cache and
/// no core; else the smallest one that has them all.
Object& home_of(const CpuSet& cpus, Object& from) {
  for (const auto& child : from.children) {
    if (!(cpus - child->cpus).empty()) continue;
    const bool structure = child->level == Level::package || child->level == Level::group;
    if (from.cpus == cpus && !structure) return from;
    // Within a package of the same CPUs, but not within its caches.
    return child->cpus == cpus ? *child : home_of(cpus, *child);
  }
  return from;
}

NodeSet add_nodes_below(Object& object) {
  NodeSet nodes;
  for (const NumaNode* node : object.memory) nodes.insert(node->id);
  for (const auto& child : object.children) nodes = nodes | add_nodes_below(*child);
  object.nodes = nodes;
  return nodes;
}

void add_nodes_above(Object& object, NodeSet above) {
  object.nodes = object.nodes | above;
  for (const NumaNode* node : object.memory) above.insert(node->id);
  for (const auto& child : object.children) add_nodes_above(*child, above);
}

class Writer {
 public:
  std::string text(const Object& root, const Machine& machine) {
    pugi::xml_document document;
    pugi::xml_node topology = document.append_child("topology");
    topology.append_attribute("version") = "2.0";
    write(root, machine, topology);
    std::ostringstream stream;
    document.save(stream, " ", pugi::format_default, pugi::encoding_utf8);
    return stream.str();
  }

 private:
  template <class Value>
  static void set(pugi::xml_node& node, const char* name, const Value& value) {
    node.append_attribute(name) = fmt::format("{}", value).c_str();
  }

  void set_place(pugi::xml_node& node, const CpuSet& cpus, const NodeSet& nodes) {
    set(node, "cpuset", bitmap_text(cpus));
    set(node, "complete_cpuset", bitmap_text(cpus));
    set(node, "nodeset", bitmap_text(nodes));
    set(node, "complete_nodeset", bitmap_text(nodes));
    set(node, "gp_index", ++last_index_);
  }

  static void add_info(pugi::xml_node& node, const char* name, const std::string& value) {
    if (value.empty()) return;
    pugi::xml_node info = node.append_child("info");
    set(info, "name", name);
    set(info, "value", value);
  }

  static void set_cache(pugi::xml_node& node, Bytes size, int depth, std::optional<Bytes> line,
                        int type) {
    set(node, "cache_size", size.value);
    set(node, "depth", depth);
    set(node, "cache_linesize", line.value_or(Bytes{0}).value);
    set(node, "cache_associativity", 0);
    set(node, "cache_type", type);
  }

  /// Within its memory-side caches, the one next to the memory last.
  void write_node(const NumaNode& node, const CpuSet& cpus, const Machine& machine,
                  pugi::xml_node& parent) {
    pugi::xml_node around = parent;
    for (auto cache = node.side_caches.rbegin(); cache != node.side_caches.rend(); ++cache) {
      around = around.append_child("object");
      set(around, "type", "MemCache");
      set_place(around, cpus, NodeSet{node.id});
      set_cache(around, cache->size, cache->level, cache->line_size, 0);
    }
    pugi::xml_node object = around.append_child("object");
    set(object, "type", "NUMANode");
    set(object, "os_index", node.id.value);
    const std::map<std::string, const char*> subtypes{
        {"hbm", "HBM"}, {"pmem", "NVM"}, {"gpu", "GPUMemory"}, {"cxl", "CXL-DRAM"}};
    const auto subtype = subtypes.find(node.kind);
    if (subtype != subtypes.end()) set(object, "subtype", subtype->second);
    set_place(object, cpus, NodeSet{node.id});
    set(object, "local_memory", node.memory_total.value_or(Bytes{0}).value);
    if (!machine.page_size || machine.page_size->value == 0) return;
    pugi::xml_node pages = object.append_child("page_type");
    set(pages, "size", machine.page_size->value);
    set(pages, "count", node.memory_total.value_or(Bytes{0}).value / machine.page_size->value);
  }

  void write(const Object& object, const Machine& machine, pugi::xml_node& parent) {
    pugi::xml_node node = parent.append_child("object");
    set(node, "type", object.type);
    if (object.os_index >= 0) set(node, "os_index", object.os_index);
    set_place(node, object.cpus, object.nodes);
    if (object.level == Level::machine) {
      set(node, "allowed_cpuset", bitmap_text(object.cpus));
      set(node, "allowed_nodeset", bitmap_text(object.nodes));
      add_info(node, "OSName", machine.os.substr(0, machine.os.find(' ')));
      const auto blank = machine.os.find(' ');
      add_info(node, "OSRelease", blank == std::string::npos ? "" : machine.os.substr(blank + 1));
      add_info(node, "HostName", machine.host);
      add_info(node, "Architecture", machine.arch);
      add_info(node, "CPUModel", machine.cpu_model);
    }
    if (object.level == Level::group) {
      constexpr int kind_of_memory = 1001;  // HWLOC_GROUP_KIND_MEMORY
      set(node, "kind", kind_of_memory);
      set(node, "subkind", 0);
    }
    if (object.cache != nullptr) {
      const std::string& type = object.cache->type;
      set_cache(node, object.cache->size, object.cache->level, object.cache->line_size,
                type == "instruction" ? 2
                : type == "data"      ? 1
                                      : 0);
    }
    for (const NumaNode* memory : object.memory) write_node(*memory, object.cpus, machine, node);
    for (const auto& child : object.children) write(*child, machine, node);
  }

  std::uint64_t last_index_ = 0;
};

}  // namespace

std::string topology_xml(const Machine& machine) {
  Object root;
  root.type = "Machine";
  root.os_index = 0;
  root.cpus = machine.all_cpus();
  Deepest deepest;
  for (const CpuId cpu : root.cpus) deepest[cpu] = &root;
  for (auto& object : objects_of(machine)) insert(std::move(object), deepest);
  for (const NumaNode& node : machine.nodes)
    home_of(locality_of(node, machine) & root.cpus, root).memory.push_back(&node);
  add_nodes_below(root);
  add_nodes_above(root, {});
  return Writer().text(root, machine);
}

}  // namespace numatlas

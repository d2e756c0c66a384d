#include "machine/sysfs_nodes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace numatlas {
namespace {

constexpr const char* node_folder = "/sys/devices/system/node";

/// "4417752 kB" (the kernel's kB are KiB).
std::optional<Bytes> bytes_of_kb(const std::optional<std::string>& text) {
  std::uint64_t value = 0;
  if (!text) return std::nullopt;
  const auto [stop, code] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (code != std::errc{} || stop == text->data()) return std::nullopt;
  return Bytes{value * kib};
}

NumaNode& node_with(Machine& machine, NodeId id) {
  const auto at = std::lower_bound(machine.nodes.begin(), machine.nodes.end(), id,
                                   [](const NumaNode& node, NodeId i) { return node.id < i; });
  if (at != machine.nodes.end() && at->id == id) return *at;
  NumaNode node;
  node.id = id;
  return *machine.nodes.insert(at, std::move(node));
}

std::optional<Bytes> file_cache(const std::string& meminfo, const std::string& prefix) {
  const auto active = bytes_of_kb(value_of(meminfo, prefix + "Active(file)"));
  const auto inactive = bytes_of_kb(value_of(meminfo, prefix + "Inactive(file)"));
  if (!active || !inactive) return std::nullopt;
  return Bytes{active->value + inactive->value};
}

/// The distance file has a column a node that is online, in ascending order.
void read_distances(const Tree& tree, const std::string& folder, const NodeSet& online,
                    NumaNode& node) {
  const auto line = tree.text(folder + "/distance");
  if (!line) return;
  node.distance.clear();
  const char* at = line->c_str();
  for (NodeId other : online) {
    char* end = nullptr;
    const long value = std::strtol(at, &end, 10);
    if (end == at) break;
    at = end;
    constexpr long most = 255;  // the kernel keeps a byte
    if (value >= 0 && value <= most) node.distance[other.value] = static_cast<int>(value);
  }
}

void read_tiers(const Tree& tree, Machine& machine) {
  const std::string folder = "/sys/devices/virtual/memory_tiering";
  for (const std::string& name : tree.names(folder)) {
    const auto tier = number_after(name, "memory_tier");
    const auto members = tree.list<NodeId>(fmt::format("{}/{}/nodelist", folder, name));
    if (!tier || !members) continue;
    for (NumaNode& node : machine.nodes) {
      if (members->contains(node.id)) node.memory_tier = *tier;
    }
  }
}

/// A kernel without NUMA: hwloc's single node stands for the machine.
void read_without_numa(const Tree& tree, Machine& machine) {
  machine.notes.push_back(
      fmt::format("{} cannot be read: the kernel has no NUMA support, or a container hides it; one "
                  "node is assumed",
                  node_folder));
  if (machine.nodes.size() > 1) return;
  NumaNode& node = machine.nodes.empty() ? node_with(machine, NodeId{0}) : machine.nodes.front();
  node.cpus = machine.all_cpus();
  for (Cpu& cpu : machine.cpus) cpu.node = node.id;
  read_machine_memory(tree, node);
}

/// A CPU belongs to the node whose cpulist has it. Where several have it (numa=fake, or firmware
/// that gives each node all CPUs): the one that the kernel takes as its own, else the one with the
/// fewest CPUs, with memory, the first.
void assign_cpus(const Tree& tree, Machine& machine) {
  std::map<CpuId, std::vector<const NumaNode*>> owners;
  for (const NumaNode& node : machine.nodes) {
    for (CpuId cpu : node.cpus) owners[cpu].push_back(&node);
  }
  for (Cpu& cpu : machine.cpus) {
    const std::vector<const NumaNode*>& all = owners[cpu.id];
    const auto rank = [&](const NumaNode* node) {
      const std::string link =
          fmt::format("/sys/devices/system/cpu/cpu{}/node{}", cpu.id.value, node->id.value);
      return std::tuple(!tree.exists(link), node->cpus.size(), !node->may_have_memory(), node->id);
    };
    cpu.node = NodeId{-1};
    if (all.size() == 1) cpu.node = all.front()->id;
    if (all.size() < 2) continue;
    cpu.node = (*std::min_element(all.begin(), all.end(), [&](auto* a, auto* b) {
                 return rank(a) < rank(b);
               }))->id;
  }
  if (const std::string text = shared_cpus_text(machine); !text.empty())
    machine.notes.push_back(text);
}

}  // namespace

void read_node_memory(const Tree& tree, NumaNode& node) {
  const auto meminfo = tree.text(fmt::format("{}/node{}/meminfo", node_folder, node.id.value));
  if (!meminfo) return;
  const std::string prefix = fmt::format("Node {} ", node.id.value);
  node.memory_total = bytes_of_kb(value_of(*meminfo, prefix + "MemTotal"));
  node.memory_free = bytes_of_kb(value_of(*meminfo, prefix + "MemFree"));
  node.memory_cache = file_cache(*meminfo, prefix);
}

void read_machine_memory(const Tree& tree, NumaNode& node) {
  const std::string meminfo = tree.text("/proc/meminfo").value_or("");
  if (const auto total = bytes_of_kb(value_of(meminfo, "MemTotal"))) node.memory_total = total;
  node.memory_free = bytes_of_kb(value_of(meminfo, "MemFree"));
  node.memory_cache = file_cache(meminfo, "");
}

std::vector<HugePagePool> huge_page_pools(const Tree& tree, const std::string& folder) {
  std::vector<HugePagePool> pools;
  for (const std::string& name : tree.names(folder)) {  // "hugepages-2048kB"
    if (!name.ends_with("kB")) continue;
    const auto size = number_after(name.substr(0, name.size() - 2), "hugepages-");
    const auto total = tree.number(folder + "/" + name + "/nr_hugepages");
    if (!size || !total) continue;
    const auto free = tree.number(folder + "/" + name + "/free_hugepages");
    pools.push_back({Bytes{static_cast<std::uint64_t>(*size) * kib},
                     static_cast<std::uint64_t>(*total),
                     static_cast<std::uint64_t>(free.value_or(0))});
  }
  std::sort(pools.begin(), pools.end(),
            [](const auto& a, const auto& b) { return a.page_size < b.page_size; });
  return pools;
}

void read_nodes(const Tree& tree, Machine& machine) {
  const auto online = tree.list<NodeId>(fmt::format("{}/online", node_folder));
  if (!online || online->empty()) return read_without_numa(tree, machine);
  const auto with_memory = tree.list<NodeId>(fmt::format("{}/has_memory", node_folder));
  const CpuSet known = machine.all_cpus();
  for (NodeId id : *online) {
    const std::string folder = fmt::format("{}/node{}", node_folder, id.value);
    NumaNode& node = node_with(machine, id);
    if (const auto cpus = tree.list<CpuId>(folder + "/cpulist")) node.cpus = *cpus & known;
    read_node_memory(tree, node);
    if (!node.memory_total && with_memory && !with_memory->contains(id)) {
      node.memory_total = Bytes{0};
    }
    read_distances(tree, folder, *online, node);
    if (tree.exists(folder + "/hugepages"))
      node.huge_pages = huge_page_pools(tree, folder + "/hugepages");
  }
  assign_cpus(tree, machine);
  read_tiers(tree, machine);
}

}  // namespace numatlas

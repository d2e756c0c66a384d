#include "machine/text_forms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/tree.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

constexpr int largest_distance = 4096;  // as of snapshots

/// The words "node K NAME: value".
struct NodeLine {
  NodeId node;
  std::string name, value;
};

std::optional<NodeLine> node_line(const std::string& line) {
  const auto colon = line.find(':');
  std::istringstream words(line.substr(0, colon));
  std::string node, name;
  NodeLine found;
  if (colon == std::string::npos || !(words >> node >> found.node.value >> name) ||
      node != "node" || found.node.value < 0 || found.node.value >= most_text_nodes)
    return std::nullopt;
  found.name = name;
  found.value = line.substr(colon + 1);
  return found;
}

/// "64000 MB", in powers of 1024 as numactl counts.
std::optional<Bytes> megabytes(const std::string& value) {
  std::istringstream words(value);
  std::uint64_t number = 0;
  std::string unit;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (!(words >> number >> unit) || unit != "MB" || number > most) return std::nullopt;
  return Bytes{number * mib};
}

/// "0 1 2 3".
Expected<CpuSet> cpus_in(const std::string& value) {
  std::istringstream words(value);
  std::string list;
  for (std::string word; words >> word;) list += (list.empty() ? "" : ",") + word;
  return parse_list<CpuId>(list);
}

NumaNode& node_of(Machine& machine, NodeId id) {
  for (NumaNode& node : machine.nodes) {
    if (node.id == id) return node;
  }
  machine.nodes.emplace_back().id = id;
  return machine.nodes.back();
}

/// "node   0   1" and then "  0:  10  21" for each.
void read_distances(const std::vector<std::string>& lines, std::size_t at, Machine& machine) {
  if (at >= lines.size()) return;
  std::istringstream heading(lines[at]);
  std::string word;
  std::vector<int> columns;
  heading >> word;
  for (int id = 0; heading >> id;) columns.push_back(id);
  for (++at; at < lines.size(); ++at) {
    std::istringstream row(lines[at]);
    int id = 0, distance = 0;
    char colon = ' ';
    if (!(row >> id >> colon) || colon != ':') return;
    for (NumaNode& node : machine.nodes) {
      if (node.id.value != id) continue;
      for (std::size_t i = 0; i < columns.size() && row >> distance; ++i) {
        const bool sound = columns[i] >= 0 && columns[i] < most_text_nodes && distance >= 0;
        if (sound && distance <= largest_distance) node.distance[columns[i]] = distance;
      }
    }
  }
}

bool has_line(const std::string& text, std::string_view start) {
  return text.starts_with(start) || text.find("\n" + std::string(start)) != std::string::npos;
}

}  // namespace

Expected<Machine> read_numactl_text(const std::string& text) {
  Machine machine;
  std::optional<int> counted;
  const std::vector<std::string> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("available: ")) {
      const std::string number = lines[i].substr(std::string_view("available: ").size());
      counted = number_after(number.substr(0, number.find(' ')), "");
    }
    if (lines[i].starts_with("node distances:")) read_distances(lines, i + 1, machine);
    const auto line = node_line(lines[i]);
    if (!line) continue;
    NumaNode& node = node_of(machine, line->node);
    if (line->name == "size") node.memory_total = megabytes(line->value);
    if (line->name == "free") node.memory_free = megabytes(line->value);
    if (line->name != "cpus") continue;
    const auto cpus = TRY(cpus_in(line->value));
    node.cpus = cpus;
    for (CpuId id : cpus) machine.cpus.emplace_back().id = id;
  }
  if (counted && static_cast<std::size_t>(*counted) != machine.nodes.size()) {
    return fail(ErrorKind::usage,
                fmt::format("a text of numactl -H that counts {} nodes, but describes {}", *counted,
                            machine.nodes.size()),
                "is it whole?");
  }
  machine.unread["cores"] = "numactl -H does not tell";
  return completed(std::move(machine), "numactl -H");
}

Expected<Machine> completed(Machine machine, const std::string& form) {
  if (machine.cpus.empty() || machine.nodes.empty()) {
    return fail(ErrorKind::usage, fmt::format("a text of {} that names no CPU or no node", form),
                "is it whole?");
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(machine.nodes.begin(), machine.nodes.end(), by_id);
  std::sort(machine.cpus.begin(), machine.cpus.end(), by_id);
  const auto same = [](const Cpu& a, const Cpu& b) { return a.id == b.id; };
  machine.cpus.erase(std::unique(machine.cpus.begin(), machine.cpus.end(), same),
                     machine.cpus.end());
  int core = 0;
  for (Cpu& cpu : machine.cpus) {
    if (machine.unread.contains("cores")) cpu.core = core++;
    for (const NumaNode& node : machine.nodes) {
      if (cpu.node.value < 0 && node.cpus.contains(cpu.id)) cpu.node = node.id;
    }
  }
  if (!machine.cpu_model.empty()) name_memory_beside_cpus(machine);
  name_distant_memory(machine);
  if (const std::string shared = shared_cpus_text(machine); !shared.empty())
    machine.notes.push_back(shared);
  machine.allowance.affinity = machine.allowance.cpuset = machine.all_cpus();
  for (const NumaNode& node : machine.nodes) machine.allowance.memory_nodes.insert(node.id);
  const std::string silent = form + " does not tell";
  for (const char* part :
       {"gpus", "persistent_memory", "memory_limit", "cpu_quota", "isolated_cpus", "huge_pages"})
    machine.unread.emplace(part, silent);
  if (!machine.hypervisor) machine.unread["hypervisor"] = silent;
  std::string open;
  const auto leave_open = [&](bool unknown, const std::string& name) {
    if (unknown) open += (open.empty() ? "" : ", ") + name;
  };
  const auto leave_open_on = [&](const std::string& name, auto is_known) {
    NodeSet unknown;
    for (const NumaNode& node : machine.nodes)
      if (!is_known(node)) unknown.insert(node.id);
    const bool all = unknown.size() == machine.nodes.size();
    leave_open(!unknown.empty(), all ? name : name + " of node " + to_list(unknown));
  };
  leave_open_on("memory", [](const auto& node) { return node.memory_total.has_value(); });
  leave_open_on("free memory", [](const auto& node) { return node.memory_free.has_value(); });
  const std::size_t nodes = machine.nodes.size();
  leave_open_on("distances",
                [&](const auto& node) { return nodes == 1 || node.distance.size() == nodes; });
  leave_open(machine.unread.contains("cores"), "which CPUs share a core");
  leave_open(machine.caches.empty(), "caches");
  leave_open(true, "settings, limits, devices");
  machine.notes.push_back(fmt::format(
      "read from the text of {}, which leaves open: {}; 'numatlas topology --format json' on that "
      "machine writes all of it",
      form, open));
  return machine;
}

Expected<std::optional<Machine>> read_text_form(const std::string& text) {
  const auto some = [](Expected<Machine> machine) -> Expected<std::optional<Machine>> {
    if (!machine) return fail(machine.error());
    return std::optional(*std::move(machine));
  };
  if (has_line(text, "available: ") && has_line(text, "node "))
    return some(read_numactl_text(text));
  if (has_line(text, "Machine")) return some(read_lstopo_text(text));
  if (has_line(text, "Architecture:")) return some(read_lscpu_text(text));
  return std::optional<Machine>{};
}

}  // namespace numatlas

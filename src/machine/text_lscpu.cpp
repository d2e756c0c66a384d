// lscpu, as text and as JSON. It counts cores and caches; which CPUs share one it says only where
// there is no choice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "machine/text_forms.h"
#include "machine/tree.h"

namespace numatlas {
namespace {

using Fields = std::map<std::string, std::string>;
constexpr const char* two_kinds = "(two kinds of cores)";

std::string field(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

/// The first of a name counts; of two kinds of cores both names.
void add_field(const std::string& name, const std::string& value, Fields& fields) {
  const auto [known, is_new] = fields.emplace(name, value);
  if (is_new || name != "Model name" || known->second.find(value) != std::string::npos) return;
  known->second += " + " + value;
  fields[two_kinds] = "yes";
}

/// Newer versions nest: {"field": "NUMA:", "data": null, "children": [...]}.
void add_fields(const nlohmann::json& list, int depth, Fields& fields) {
  constexpr int deepest = 8;
  if (!list.is_array() || depth > deepest) return;
  for (const auto& item : list) {
    if (!item.is_object()) continue;
    std::string name =
        item.contains("field") && item["field"].is_string() ? item["field"].get<std::string>() : "";
    if (name.ends_with(':')) name.pop_back();
    if (item.contains("data") && item["data"].is_string())
      add_field(name, item["data"].get<std::string>(), fields);
    if (item.contains("children")) add_fields(item["children"], depth + 1, fields);
  }
}

/// "64 KiB (2 instances)": their sum; without a number of instances the size is one's ("32K").
/// `alike`: all CPUs are of one kind.
void add_cache(const std::string& name, const std::string& value, bool alike, Machine& machine) {
  const auto bracket = value.find('(');
  std::string size = value.substr(0, bracket);
  while (size.ends_with(' ')) size.pop_back();
  const auto bytes = parse_bytes(size);
  const std::uint64_t instances =
      bracket == std::string::npos ? 0 : std::strtoull(value.c_str() + bracket + 1, nullptr, 10);
  const CpuSet all = machine.all_cpus();
  if (!bytes || instances == 0 || (instances > 1 && !alike) ||
      (instances != 1 && instances != all.size())) {
    machine.notes.push_back(
        fmt::format("{} cache: {}; which CPUs share one is not said", name, value));
    return;
  }
  Cache cache;
  cache.level = name[1] - '0';
  cache.type = name.back() == 'd' ? "data" : name.back() == 'i' ? "instruction" : "unified";
  cache.size = Bytes{bytes->value / instances};
  if (instances == 1) {
    cache.cpus = all;
    machine.caches.push_back(cache);
    return;
  }
  for (CpuId cpu : all) {
    cache.cpus = CpuSet{cpu};
    machine.caches.push_back(cache);
  }
}

Expected<void> add_nodes(const Fields& fields, Machine& machine) {
  for (const auto& [name, value] : fields) {
    if (!name.starts_with("NUMA node") || !name.ends_with(" CPU(s)")) continue;
    const auto id =
        number_after(name.substr(0, name.size() - std::string(" CPU(s)").size()), "NUMA node");
    const auto taken = [&](const NumaNode& node) { return node.id.value == *id; };
    if (!id || *id >= most_text_nodes || std::ranges::any_of(machine.nodes, taken)) continue;
    const auto cpus = TRY(parse_list<CpuId>(value == "-" ? "" : value));
    NumaNode& node = machine.nodes.emplace_back();
    node.id = NodeId{*id};
    node.cpus = cpus & machine.all_cpus();
  }
  if (machine.nodes.empty()) {  // a kernel without NUMA
    NumaNode& node = machine.nodes.emplace_back();
    node.id = NodeId{0};
    node.cpus = machine.all_cpus();
  }
  return {};
}

Expected<Machine> machine_of(const Fields& fields) {
  Machine machine;
  machine.arch = field(fields, "Architecture");
  machine.cpu_model = field(fields, "Model name");
  const auto cpus = TRY(parse_list<CpuId>(field(fields, "On-line CPU(s) list")));
  for (CpuId id : cpus) machine.cpus.emplace_back().id = id;
  TRY(add_nodes(fields, machine));
  const std::string count = field(fields, "NUMA node(s)");
  if (!count.empty() && count != std::to_string(machine.nodes.size()))
    return fail(ErrorKind::usage,
                fmt::format("the text of lscpu counts {} NUMA nodes, and lists {}", count,
                            machine.nodes.size()),
                "is it whole?");
  if (field(fields, "Thread(s) per core") == "1") {
    int core = 0;
    for (Cpu& cpu : machine.cpus) cpu.core = core++;
  } else {
    machine.unread["cores"] = "lscpu only counts them";
  }
  if (field(fields, "Socket(s)") == "1") {
    for (Cpu& cpu : machine.cpus) cpu.package = 0;
  }
  const std::string vendor = field(fields, "Hypervisor vendor"), flags = field(fields, "Flags");
  if (!vendor.empty())
    machine.hypervisor = vendor;
  else if (!flags.empty() && (" " + flags + " ").find(" hypervisor ") == std::string::npos)
    machine.hypervisor = "";  // x86: the processor says so itself
  for (const char* name : {"L1d", "L1i", "L2", "L3", "L4"}) {
    std::string value = field(fields, name);  // below "Caches (sum of all)"
    if (value.empty()) value = field(fields, std::string(name) + " cache");
    if (!value.empty()) add_cache(name, value, field(fields, two_kinds).empty(), machine);
  }
  return completed(std::move(machine), "lscpu");
}

}  // namespace

Expected<Machine> read_lscpu_json(const nlohmann::json& document) {
  Fields fields;
  add_fields(document["lscpu"], 0, fields);
  return machine_of(fields);
}

Expected<Machine> read_lscpu_text(const std::string& text) {
  Fields fields;
  for (const std::string& line : split_lines(text)) {
    const auto first = line.find_first_not_of(" \t"), colon = line.find(':');
    if (first == std::string::npos || colon == std::string::npos || colon < first) continue;
    add_field(line.substr(first, colon - first),
              std::string(trim(std::string_view(line).substr(colon + 1))), fields);
  }
  return machine_of(fields);
}

}  // namespace numatlas

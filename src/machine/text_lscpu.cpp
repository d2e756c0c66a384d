// lscpu, as text and as JSON. It counts cores and caches; which CPUs share one it says only where
// there is no choice.
#include <algorithm>
#include <bit>
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
#include "base/tree.h"
#include "machine/text_forms.h"

namespace numatlas {
namespace {

using Fields = std::map<std::string, std::string>;
constexpr const char* two_kinds = "(two kinds of cores)";

std::string field(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

/// Values of a name that comes again, with another value: "Cortex-X925 + Cortex-A725".
void add_field(const std::string& name, const std::string& value, Fields& fields) {
  std::string& known = fields[name];
  if (known == value || value.empty()) return;
  known += (known.empty() ? "" : " + ") + value;
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
    const bool has_text = item.contains("data") && item["data"].is_string();
    add_field(name, has_text ? item["data"].get<std::string>() : "", fields);
    if (item.contains("children")) add_fields(item["children"], depth + 1, fields);
  }
}

/// "64 KiB (2 instances)": the sum of all.
struct CacheField {
  std::optional<Bytes> sum;
  std::uint64_t instances = 0;  ///< 0: no number is given, and the size is that of one ("32K")
};

CacheField cache_field(const std::string& value) {
  const auto bracket = value.find('(');
  std::string size = value.substr(0, bracket);
  while (size.ends_with(' ')) size.pop_back();
  CacheField field;
  if (const auto bytes = parse_bytes(size)) field.sum = *bytes;
  if (bracket != std::string::npos)
    field.instances = std::strtoull(value.c_str() + bracket + 1, nullptr, 10);
  return field;
}

/// Whether cores have L1 caches of different sizes, by a mean that no cache has: sizes are powers
/// of two, or three times one.
bool has_unlike_cores(const std::string& l1) {
  const auto [sum, instances] = cache_field(l1);
  if (!sum || sum->value == 0 || instances == 0) return false;
  const std::uint64_t one = sum->value / instances;
  const std::uint64_t odd = one >> static_cast<unsigned>(std::countr_zero(one));
  return sum->value % instances != 0 || (odd != 1 && odd != 3);
}

/// Of unlike cores only a cache that all share has a known size.
void add_cache(const std::string& name, const std::string& value, bool unlike, Machine& machine) {
  const auto [bytes, instances] = cache_field(value);
  const CpuSet all = machine.all_cpus();
  if (unlike && instances > 1) {
    machine.notes.push_back(
        fmt::format("{} cache: {}; the cores differ, and their sizes are not said", name, value));
    return;
  }
  if (!bytes || instances == 0 || (instances != 1 && instances != all.size())) {
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

/// Of a text that does not fit together: it was cut, or two were joined.
tl::unexpected<Error> not_whole(const std::string& why) {
  return fail(ErrorKind::usage, "a text of lscpu that " + why, "is it whole?");
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
  const auto counted = number_after(field(fields, "NUMA node(s)"), "");
  if (counted && static_cast<std::size_t>(*counted) != machine.nodes.size())
    return not_whole(
        fmt::format("counts {} NUMA nodes, but describes {}", *counted, machine.nodes.size()));
  CpuSet homeless = machine.all_cpus();
  for (const NumaNode& node : machine.nodes) homeless = homeless - node.cpus;
  if (!machine.nodes.empty() && !homeless.empty())
    return not_whole(fmt::format("has the CPUs {} in no NUMA node", to_list(homeless)));
  if (machine.nodes.empty()) {
    machine.notes.push_back(
        "lscpu names no NUMA node: the kernel has no NUMA, or the text is not whole; all CPUs "
        "count as one node");
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
  const auto counted = number_after(field(fields, "CPU(s)"), "");
  if (counted && static_cast<std::size_t>(*counted) > cpus.size() && !cpus.empty() &&
      field(fields, "Off-line CPU(s) list").empty())
    machine.notes.push_back(
        fmt::format("lscpu counts {} CPUs, but lists {} as on-line and none as off-line", *counted,
                    cpus.size()));
  if (!cpus.empty()) TRY(add_nodes(fields, machine));
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
  const auto cache = [&](const std::string& name) {
    const std::string value = field(fields, name);  // below "Caches (sum of all)"
    return value.empty() ? field(fields, name + " cache") : value;
  };
  const bool unlike = machine.cpu_model.find(" + ") != std::string::npos ||
                      has_unlike_cores(cache("L1d")) || has_unlike_cores(cache("L1i"));
  for (const char* name : {"L1d", "L1i", "L2", "L3", "L4"}) {
    if (const std::string value = cache(name); !value.empty())
      add_cache(name, value, unlike, machine);
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
    const auto start = line.find_first_not_of(" \t\r", colon + 1);
    const std::size_t length = line.find_last_not_of(" \t\r") - start + 1;
    add_field(line.substr(first, colon - first),
              start == std::string::npos ? "" : line.substr(start, length), fields);
  }
  return machine_of(fields);
}

}  // namespace numatlas

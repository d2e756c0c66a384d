// hwloc's XML with measured memory attributes: facts from CPUs of one node to memory of one node.
#include "export/hwloc.h"

#include <hwloc.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/child_process.h"
#include "base/tree.h"
#include "export/export.h"
#include "machine/hwloc_reader.h"
#include "record/estimate.h"

namespace numatlas {
namespace {

// What the child process answers begins with one of these.
constexpr char is_text = '+', is_usage_error = '-', is_internal_error = '!';

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap bitmap_of(const CpuSet& cpus) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  for (const CpuId cpu : cpus) hwloc_bitmap_set(bitmap.get(), static_cast<unsigned>(cpu.value));
  return bitmap;
}

hwloc_obj_t node_of(hwloc_topology_t topology, NodeId id) {
  return hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(id.value));
}

std::optional<hwloc_memattr_id_t> attribute_of(hwloc_topology_t topology,
                                               const MemoryValue& value) {
  hwloc_memattr_id_t attribute{};
  if (hwloc_memattr_get_by_name(topology, value.attribute.c_str(), &attribute) == 0)
    return attribute;
  const unsigned long order =
      value.lower_is_better ? HWLOC_MEMATTR_FLAG_LOWER_FIRST : HWLOC_MEMATTR_FLAG_HIGHER_FIRST;
  if (hwloc_memattr_register(topology, value.attribute.c_str(),
                             order | HWLOC_MEMATTR_FLAG_NEED_INITIATOR, &attribute) != 0)
    return std::nullopt;
  return attribute;
}

/// "" where it is stored; else why not.
std::string store(hwloc_topology_t topology, const MemoryValue& value) {
  const auto attribute = attribute_of(topology, value);
  if (!attribute) return fmt::format("hwloc_memattr_register refuses {}", value.attribute);
  const Bitmap cpus = bitmap_of(value.initiator);
  if (hwloc_bitmap_isincluded(cpus.get(), hwloc_topology_get_topology_cpuset(topology)) == 0)
    return fmt::format("the topology has not all of the CPUs {}", to_list(value.initiator));
  hwloc_location from{};
  from.type = HWLOC_LOCATION_TYPE_CPUSET;
  from.location.cpuset = cpus.get();
  hwloc_obj_t target = node_of(topology, value.target);
  if (target == nullptr) return fmt::format("the topology has no NUMA node {}", value.target.value);
  if (hwloc_memattr_set_value(topology, *attribute, target, &from, 0, value.value) != 0)
    return fmt::format("hwloc_memattr_set_value refuses {} of node {}", value.attribute,
                       value.target.value);
  return "";
}

void add_info(hwloc_topology_t topology, const HwlocInfo& info) {
  hwloc_obj_t object =
      info.node.value < 0 ? hwloc_get_root_obj(topology) : node_of(topology, info.node);
  if (object != nullptr) hwloc_obj_add_info(object, info.name.c_str(), info.value.c_str());
}

CpuSet cpus_of(hwloc_const_cpuset_t bits) {
  CpuSet cpus;
  for (int id = hwloc_bitmap_first(bits); id >= 0; id = hwloc_bitmap_next(bits, id))
    cpus.insert(CpuId{id});
  return cpus;
}

void read_values(hwloc_topology_t topology, const std::string& name, hwloc_obj_t node,
                 std::vector<MemoryValue>& values) {
  hwloc_memattr_id_t attribute{};
  unsigned long flags = 0;
  unsigned count = 0;
  if (hwloc_memattr_get_by_name(topology, name.c_str(), &attribute) != 0 ||
      hwloc_memattr_get_flags(topology, attribute, &flags) != 0 ||
      hwloc_memattr_get_initiators(topology, attribute, node, 0, &count, nullptr, nullptr) != 0)
    return;
  std::vector<hwloc_location> initiators(count);
  std::vector<hwloc_uint64_t> found(count);
  if (hwloc_memattr_get_initiators(topology, attribute, node, 0, &count, initiators.data(),
                                   found.data()) != 0)
    return;
  for (std::size_t i = 0; i < count; ++i) {
    if (initiators[i].type != HWLOC_LOCATION_TYPE_CPUSET) continue;
    values.push_back({name, (flags & HWLOC_MEMATTR_FLAG_LOWER_FIRST) != 0,
                      cpus_of(initiators[i].location.cpuset),
                      NodeId{static_cast<int>(node->os_index)}, found[i]});
  }
}

std::vector<MemoryValue> values_of(hwloc_topology_t topology,
                                   const std::vector<std::string>& names) {
  std::vector<MemoryValue> values;
  for (const std::string& name : names) {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
      read_values(topology, name, node, values);
  }
  return values;
}

/// Loads it again: tools that annotate are known to say that they did where nothing was stored.
std::string what_is_missing(const std::string& xml, const std::vector<MemoryValue>& values) {
  const auto again = load_xml_topology(xml);
  if (!again) return "libhwloc does not read what it wrote";
  std::vector<std::string> names;
  for (const MemoryValue& value : values) {
    if (std::find(names.begin(), names.end(), value.attribute) == names.end())
      names.push_back(value.attribute);
  }
  const auto stored = values_of(again->get(), names);
  for (const MemoryValue& value : values) {
    if (std::find(stored.begin(), stored.end(), value) == stored.end())
      return fmt::format("{} of node {} from CPUs {} was not stored", value.attribute,
                         value.target.value, to_list(value.initiator));
  }
  return "";
}

std::string written(const std::string& xml, const std::vector<MemoryValue>& values,
                    const std::vector<HwlocInfo>& infos) {
  const auto topology = load_xml_topology(xml, Devices::kept);
  if (!topology) return is_usage_error + topology.error().message;
  for (const MemoryValue& value : values) {
    const std::string problem = store(topology->get(), value);
    if (!problem.empty()) return is_usage_error + problem;
  }
  for (const HwlocInfo& info : infos) add_info(topology->get(), info);
  const auto text = to_xml(topology->get());
  if (!text) return is_internal_error + text.error().message;
  const std::string missing = what_is_missing(*text, values);
  if (!missing.empty()) return is_internal_error + missing;
  return is_text + *text;
}

std::optional<NodeId> node_in(const Fact& fact, const char* label) {
  const auto number = number_after(where_of(fact, label), "");
  return number ? std::optional(NodeId{*number}) : std::nullopt;
}

/// "loaded_latency_peak" -> "LoadedLatencyPeak"
std::string camel(std::string_view text) {
  std::string name;
  bool starts = true;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      starts = true;
      continue;
    }
    name += starts ? static_cast<char>(std::toupper(letter)) : c;
    starts = false;
  }
  return name;
}

/// MeasuredLatency, MeasuredReadBandwidth, MeasuredLoadedLatencyPeak: the fact's key, without the
/// word for the matrix itself, and what its flows did.
std::string attribute_of(const Fact& fact) {
  constexpr std::string_view matrix = "matrix_";
  std::string_view key = fact.key;
  if (key.starts_with(matrix)) key.remove_prefix(matrix.size());
  return "Measured" + camel(where_of(fact, "kernel")) + camel(key);
}

/// hwloc's units, whole numbers: ns, MiB/s.
std::optional<std::uint64_t> value_of(const Fact& fact) {
  constexpr double nanoseconds = 1e9;
  const double value = fact.unit == "s"     ? fact.estimate.value * nanoseconds
                       : fact.unit == "B/s" ? fact.estimate.value / mib
                                            : -1;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value));
}

/// "94.5 ns, 95 % interval 94.1 to 94.9"
std::string exact_text(const Fact& fact) {
  const bool time = fact.unit == "s";
  const double scale = time ? 1e9 : 1 / static_cast<double>(mib);
  std::string text = fmt::format("{:.6g} {}", fact.estimate.value * scale, time ? "ns" : "MiB/s");
  if (fact.estimate.low && fact.estimate.high)
    text += fmt::format(", 95 % interval {:.6g} to {:.6g}", *fact.estimate.low * scale,
                        *fact.estimate.high * scale);
  return text;
}

struct Attributes {
  std::vector<MemoryValue> values;
  std::vector<HwlocInfo> infos;
  std::vector<std::string> notes;

  bool has(const MemoryValue& value) const {
    return std::any_of(values.begin(), values.end(), [&](const MemoryValue& other) {
      return other.attribute == value.attribute && other.initiator == value.initiator &&
             other.target == value.target;
    });
  }
};

/// The standard attribute that a fact is a measurement of; "" for none.
std::string standard_of(const Fact& fact) {
  const std::string kernel = where_of(fact, "kernel");
  if (fact.key == "matrix_latency") return "Latency";
  return fact.key == "matrix_bandwidth" && kernel == "read" ? "Bandwidth" : "";
}

void add_fact(const Fact& fact, const Machine& machine, bool standard, Attributes& attributes) {
  const auto cpus = node_in(fact, "cpu_node"), memory = node_in(fact, "memory_node");
  const auto value = value_of(fact);
  if (!cpus || !memory || !value) return;
  if (is_wide(fact.estimate)) {  // hwloc has no intervals
    attributes.notes.push_back(fmt::format("{} from node {} to node {} is left out: {}", fact.key,
                                           cpus->value, memory->value,
                                           estimate_text(fact.estimate, fact.unit)));
    return;
  }
  const NumaNode* from = machine.find_node(*cpus);
  if (from == nullptr || from->cpus.empty()) {
    attributes.notes.push_back(
        fmt::format("{}: node {} has no CPUs in this machine", fact.key, cpus->value));
    return;
  }
  const MemoryValue stored{attribute_of(fact), fact.unit == "s", from->cpus, *memory, *value};
  if (attributes.has(stored)) return;  // with other options, such as pages: the first one counts
  attributes.values.push_back(stored);
  attributes.infos.push_back(
      {*memory, fmt::format("{} from node {}", stored.attribute, cpus->value), exact_text(fact)});
  const std::string known = standard ? standard_of(fact) : "";
  if (known.empty()) return;
  attributes.values.push_back(stored);
  attributes.values.back().attribute = known;
}

/// Where the figures come from, and under which conditions they hold.
void add_provenance(const ExportInput& input, const Machine& machine,
                    std::vector<HwlocInfo>& infos) {
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) infos.push_back({NodeId{}, name, value});
  };
  add("MeasuredBy", provenance_of(input));
  add("MeasuredUnits", "latency in ns, bandwidth in MiB/s");
  for (const Rows& run : input.stored.runs) {
    const bool has_attributes =
        std::any_of(run.facts.begin(), run.facts.end(), [](const Fact& fact) {
          return node_in(fact, "cpu_node") && node_in(fact, "memory_node") && value_of(fact);
        });
    if (!has_attributes) continue;
    add("MeasuredWith", fmt::format("numatlas {} {} ({}, engine {})", run.command,
                                    fmt::join(run.arguments, " "), run.started, run.engine));
  }
  std::string conditions;
  for (const Setting& setting : machine.settings)
    conditions +=
        fmt::format("{}{}={}", conditions.empty() ? "" : "; ", setting.name, setting.value);
  add("MeasuredConditions", conditions);
  for (const std::string& caveat : caveats_of(input)) add("MeasuredNote", caveat);
}

Expected<Exported> export_hwloc(const ExportInput& input) {
  const std::string& file = input.stored.file;
  const Machine* const machine = machine_of(input);
  if (machine == nullptr || machine->cpus.empty())
    return fail_about(ErrorKind::unavailable, file, "holds no machine", "name one with --machine");
  Attributes attributes;
  for (const ExportedFact& one : facts_of(input))
    add_fact(*one.fact, *machine, input.standard, attributes);
  if (attributes.values.empty())
    return fail_about(ErrorKind::unavailable, file,
                      attributes.notes.empty()
                          ? "has no latency or bandwidth from CPUs of a node to memory of a node"
                          : attributes.notes.front(),
                      "measure them with `numatlas survey`, or with `numatlas matrix --json FILE`");
  add_provenance(input, *machine, attributes.infos);
  if (input.topology.empty())
    return fail_about(ErrorKind::unavailable, file, "has no topology.xml of hwloc beside it",
                      "name one with --machine: `lstopo FILE.xml` writes it on that machine");
  auto xml = with_memory_values(input.topology, attributes.values, attributes.infos);
  if (!xml)
    return fail(
        about(input.machine_spec.empty() ? file : "--machine " + input.machine_spec, xml.error()));
  return Exported{*std::move(xml), std::move(attributes.notes)};
}

}  // namespace

Expected<std::string> with_memory_values(const std::string& xml,
                                         const std::vector<MemoryValue>& values,
                                         const std::vector<HwlocInfo>& infos) {
  const auto answer = in_child([&] { return written(xml, values, infos); });
  if (!answer) return fail(answer.error());
  const char kind = answer->empty() ? is_internal_error : answer->front();
  std::string text = answer->empty() ? "libhwloc gave no answer" : answer->substr(1);
  if (kind == is_text) return text.ends_with('\n') ? text : text + "\n";
  return fail(kind == is_usage_error ? ErrorKind::usage : ErrorKind::internal, std::move(text));
}

std::vector<MemoryValue> memory_values_of(const std::string& xml,
                                          const std::vector<std::string>& names) {
  const auto topology = load_xml_topology(xml);
  return topology ? values_of(topology->get(), names) : std::vector<MemoryValue>{};
}

ExportForm hwloc_form() {
  return {"hwloc", "XML of hwloc with measured memory attributes", true, true, export_hwloc};
}

}  // namespace numatlas

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/child_process.h"
#include "export/hwloc_xml.h"
#include "machine/hwloc_reader.h"

namespace numatlas {
namespace {

// What the child process answers begins with one of these.
constexpr char is_text = '+', is_usage_error = '-', is_internal_error = '!';

#if HWLOC_API_VERSION >= 0x00020300

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

#endif

}  // namespace

#if HWLOC_API_VERSION >= 0x00020300

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

#else

Expected<std::string> with_memory_values(const std::string&, const std::vector<MemoryValue>&,
                                         const std::vector<HwlocInfo>&) {
  return fail(ErrorKind::unavailable,
              "this build's libhwloc has no memory attributes: they came with 2.3");
}

std::vector<MemoryValue> memory_values_of(const std::string&, const std::vector<std::string>&) {
  return {};
}

#endif

}  // namespace numatlas

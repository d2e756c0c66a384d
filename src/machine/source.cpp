#include "machine/source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "base/json.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/tree.h"
#include "machine/allowance.h"
#include "machine/hwloc_devices.h"
#include "machine/hwloc_messages.h"
#include "machine/hwloc_reader.h"
#include "machine/identity.h"
#include "machine/settings.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

constexpr const char* written_by =
    "write one with 'numatlas topology --format json' on that machine, or unpack what "
    "'hwloc-gather-topology' writes there and name the folder";

/// Names come from files of a recorded machine, from firmware, and from whoever named the host.
void make_printable(Machine& machine) {
  const auto make = [](auto&... texts) { ((texts = printable(texts)), ...); };
  Identity& identity = machine.identity;
  make(identity.installation, identity.firmware, identity.boot, identity.product,
       identity.provider);
  make(machine.source, machine.host, machine.os, machine.arch, machine.cpu_model,
       machine.allowance.memory_limit_source, machine.allowance.cpu_quota_source);
  for (Limit& limit : machine.allowance.other_limits) make(limit.source);
  if (machine.hypervisor) make(*machine.hypervisor);
  for (NumaNode& node : machine.nodes) make(node.kind);
  for (CpuKind& kind : machine.cpu_kinds) make(kind.name, kind.model);
  for (Gpu& gpu : machine.gpus) {
    make(gpu.pci_address, gpu.vendor, gpu.device_id, gpu.driver, gpu.runtime, gpu.name);
    for (PciStep& step : gpu.path) make(step.pci_address);
  }
  for (PersistentMemory& memory : machine.persistent_memory) make(memory.name, memory.mode);
  for (Setting& setting : machine.settings)
    make(setting.name, setting.value, setting.source, setting.warning);
  make(machine.memory_slots.source, machine.memory_slots.problem);
  for (MemorySlot& slot : machine.memory_slots.slots)
    make(slot.name, slot.socket, slot.channel, slot.type);
  for (std::string& note : machine.notes) make(note);
  for (auto& [name, why] : machine.unread) make(why);
}

/// A machine as a snapshot, or an error: what a child process answers.
std::string answer_of(const Expected<Machine>& machine) {
  if (!machine)
    return nlohmann::json{{"message", machine.error().message}, {"hint", machine.error().hint}}
        .dump();
  return nlohmann::json{{"machine", to_json(*machine)}}.dump();
}

void add_note(Machine& machine, const std::string& note) {
  if (!note.empty()) machine.notes.push_back(note);
}

Expected<Machine> from_synthetic(const std::string& description) {
  const auto topology = TRY(load_synthetic_topology(description));
  return translate(topology.get());
}

Expected<Machine> from_xml(const std::string& content) {
  HwlocMessages messages;
  const auto topology = TRY(load_xml_topology(content));
  const std::string doubts = forget_guessed_kinds(topology.get());
  Machine machine = translate(topology.get());
  read_gpus(topology.get(), machine);
  add_note(machine, messages.note());
  add_note(machine, doubts);
  if (!machine.cpu_model.empty()) name_memory_beside_cpus(machine);
  name_distant_memory(machine);
  const std::string silent = "hwloc XML does not tell";
  for (const char* part :
       {"hypervisor", "memory_limit", "cpu_quota", "isolated_cpus", "persistent_memory"})
    machine.unread[part] = silent;
  if (std::ranges::all_of(machine.nodes, [](const auto& node) { return node.huge_pages.empty(); }))
    machine.unread["huge_pages"] = silent;
  machine.notes.push_back("not read from hwloc XML: free memory, limits, settings, DAX memory");
  return machine;
}

/// libhwloc takes what it is given on trust, and ends the process by an assertion where that does
/// not fit together. So only a child process reads it, and tells of the machine as a snapshot does.
Expected<Machine> from_topology(const std::function<Expected<Machine>()>& load) {
  const auto answer = in_child([&] { return answer_of(load()); });
  if (!answer) {
    if (answer.error().kind != ErrorKind::usage) return fail(answer.error());
    return fail(ErrorKind::usage,
                fmt::format("hwloc cannot read it: libhwloc {}", answer.error().message),
                "is the file damaged or not written by lstopo? Is the description too large?");
  }
  const auto read = nlohmann::json::parse(*answer);
  if (!read.contains("machine")) return fail(ErrorKind::usage, read["message"], read["hint"]);
  auto machine = TRY(machine_from_json(read["machine"]));
  if (machine.cpus.empty()) return fail(ErrorKind::usage, "describes no CPU");
  return machine;
}

/// Where a folder has a /sys of Linux: in itself, or in the one folder that archives of
/// hwloc-gather-topology have; "" for none.
std::string root_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto has_sys = [&](const fs::path& path) {
    return fs::is_directory(path / "sys/devices/system/cpu", error);
  };
  if (has_sys(folder)) return folder;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (has_sys(it->path())) return it->path();
  }
  return "";
}

/// Name of an XML document's outermost element; "" where it has none.
std::string root_element(std::string_view xml) {
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at)) {
    const bool comment = xml.substr(at).starts_with("<!--");
    if (!comment && at + 1 < xml.size() && xml[at + 1] != '?' && xml[at + 1] != '!')
      return printable(xml.substr(at + 1, xml.find_first_of(" \t\r\n/>", at) - at - 1));
    at = comment ? xml.find("-->", at) : xml.find('>', at);
  }
  return "";
}

/// XML that describes machines for other programs is named for what it is.
Expected<Machine> from_xml_file(const std::string& content) {
  static const std::map<std::string, const char*> others{
      {"system", "a topology of NCCL or RCCL: it has nodes, CPU masks and GPUs, but no memory"},
      {"graphs", "a graph of NCCL or RCCL: it has the channels between GPUs, and no machine"},
      {"capabilities", "written by 'virsh capabilities', which has no caches of all CPUs"},
      {"domain", "libvirt's description of a guest, and no machine"},
      {"nvidia_smi_log", "written by 'nvidia-smi -q -x': it has GPUs, but no CPUs and no memory"},
      {"topologydiff", "a difference of two topologies of hwloc, and none of them"}};
  const std::string root = root_element(content);
  if (const auto other = others.find(root); other != others.end())
    return fail(ErrorKind::usage, fmt::format("is {}", other->second), written_by);
  return from_topology([&] { return from_xml(content); });
}

Expected<Machine> from_file(const std::string& spec) {
  if (const std::string root = root_in(spec); !root.empty())
    return from_topology([&] { return read_live_machine(root); });
  std::error_code error;
  if (std::filesystem::is_directory(spec, error))
    return fail(ErrorKind::usage,
                "this folder holds no gathered machine: it has no sys/devices/system/cpu",
                "name the folder that hwloc-gather-topology's archive unpacks to");
  const auto content = TRY(read_file(spec, "", written_by));
  const auto start = content.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : content[start];
  if (first == '{') return machine_from_json(TRY(parse_json(content)));
  if (first == '<') return from_xml_file(content);
  return fail(ErrorKind::usage, "is neither a JSON snapshot nor hwloc XML", written_by);
}

}  // namespace

Expected<Machine> read_live_machine(const std::string& root) {
  HwlocMessages messages;
  const auto topology = load_live_topology(root);
  const std::string said = messages.note();
  if (!topology) return fail(topology.error());
  Machine machine = translate(topology->get());
  add_note(machine, said);
  const Tree tree(root);
  if (!root.empty()) {
    // libhwloc says these of the machine that it runs on, unless an archive has them.
    machine.page_size.reset();
    if (!tree.exists("/proc/hwloc-nofile-info")) {
      machine.host.clear();
      machine.os.clear();
      machine.arch.clear();
    }
  }
  machine.source = root.empty() ? "live" : root;
  if (root.empty()) {
    const long size = ::sysconf(_SC_PAGESIZE);
    if (size > 0) machine.page_size = Bytes{static_cast<std::uint64_t>(size)};
  }
  read_identity(tree, machine);
  if (const auto affinity = tree.is_live() ? scheduler_affinity() : std::nullopt)
    believe_affinity(tree, *affinity, machine);
  read_hybrid_kinds(tree, machine);
  read_nodes(tree, machine);
  read_devices(tree, machine);
  read_node_kinds(tree, machine);
  machine.allowance = read_allowance(tree, machine);
  machine.isolated_cpus =
      tree.list<CpuId>("/sys/devices/system/cpu/isolated").value_or(CpuSet{}) & machine.all_cpus();
  if (!tree.is_live() && !tree.exists("/sys/devices/system/cpu/isolated"))
    machine.unread["isolated_cpus"] = "/sys/devices/system/cpu/isolated is not visible";
  leave_limits_open(tree, machine);
  read_settings(tree, machine);
  machine.memory_slots = read_memory_slots(tree);
  make_printable(machine);
  return machine;
}

Expected<Machine> read_recorded_machine(const std::string& spec) {
  if (spec.empty()) return fail(ErrorKind::usage, "empty");
  const std::string subject = fmt::format("'{}'", spec);
  std::error_code error;
  const bool is_file = std::filesystem::exists(spec, error);
  if (file_error_kind(error.value()) == ErrorKind::permission)
    return fail_about(ErrorKind::permission, subject, error.message());
  auto machine = is_file ? from_file(spec) : from_topology([&] { return from_synthetic(spec); });
  if (!machine && !is_file && spec.find_first_of("/.") != std::string::npos) {
    // It looks like a path: a missing file is the likelier mistake than a bad description.
    return fail_usage(subject,
                      "there is no such file, and it is not a synthetic description either",
                      machine.error().hint);
  }
  if (!machine) return fail(about(subject, machine.error()));
  machine->source = spec;
  make_printable(*machine);
  return machine;
}

Expected<std::string> hwloc_xml(const std::string& spec) {
  std::error_code error;
  const std::string root = root_in(spec);
  if (root.empty() && !spec.empty() && std::filesystem::exists(spec, error)) {
    auto content = TRY(read_file(spec, "", written_by));
    if (trim(content).starts_with('<')) return content;
    return fail(ErrorKind::usage, "is a snapshot, which has no topology of hwloc",
                "write one with 'lstopo FILE.xml' on that machine");
  }
  const auto topology =
      TRY(spec.empty() || !root.empty() ? load_live_topology(root) : load_synthetic_topology(spec));
  return to_xml(topology.get());
}

}  // namespace numatlas

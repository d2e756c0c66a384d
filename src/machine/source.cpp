#include "machine/source.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/in_child.h"
#include "base/json_document.h"
#include "base/read_file.h"
#include "base/text.h"
#include "machine/allowance.h"
#include "machine/cpu_kinds.h"
#include "machine/hwloc_reader.h"
#include "machine/identity.h"
#include "machine/settings.h"
#include "machine/sysfs_nodes.h"
#include "machine/tree.h"

namespace numatlas {
namespace {

constexpr const char* written_by =
    "write one with 'numatlas topology --format json' or 'lstopo file.xml'";

/// Says whose error it is: the message of a part becomes that of the option.
Error of_option(const std::string& spec, const Error& error) {
  return about("--machine", about(fmt::format("'{}'", spec), error));
}

/// Names come from files of a recorded machine, from firmware, and from whoever named the host.
void make_printable(Machine& machine) {
  const auto make = [](auto&... texts) { ((texts = printable(texts)), ...); };
  make(machine.source, machine.host, machine.os, machine.arch, machine.cpu_model,
       machine.allowance.memory_limit_source, machine.allowance.cpu_quota_source);
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
}

Expected<Machine> from_snapshot(const std::string& content) {
  const auto document = parse_json(content);
  if (!document) return fail(document.error());
  return machine_from_json(**document);
}

/// A machine as a snapshot, or an error: what a child process answers.
std::string answer_of(const Expected<Topology>& topology) {
  if (!topology)
    return nlohmann::json{{"message", topology.error().message}, {"hint", topology.error().hint}}
        .dump();
  return nlohmann::json{{"machine", to_json(translate(topology->get()))}}.dump();
}

/// libhwloc takes what it is given on trust, and ends the process by an assertion where that does
/// not fit together. So only a child process reads it, and tells of the machine as a snapshot does.
Expected<Machine> from_topology(const std::string& spec,
                                const std::function<Expected<Topology>()>& load) {
  const auto answer = in_child([&] { return answer_of(load()); });
  if (!answer) {
    Error error = of_option(spec, answer.error());
    if (error.kind != ErrorKind::usage) return fail(error);
    return fail_about(
        error.kind, "--machine",
        fmt::format("'{}': hwloc cannot read it: libhwloc {}", spec, answer.error().message),
        "is the file damaged or not written by lstopo? Is the description too large?");
  }
  const auto read = nlohmann::json::parse(*answer);
  if (!read.contains("machine"))
    return fail(of_option(spec, {ErrorKind::usage, read["message"], read["hint"]}));
  auto machine = machine_from_json(read["machine"]);
  if (!machine) return fail(of_option(spec, machine.error()));
  if (machine->cpus.empty()) {
    return fail_usage("--machine", fmt::format("'{}' describes no CPU", spec));
  }
  return machine;
}

Expected<Machine> from_file(const std::string& spec) {
  const auto content = read_file(spec, fmt::format("'{}'", spec), written_by);
  if (!content) return fail(about("--machine", content.error()));
  const auto start = content->find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : (*content)[start];
  if (first == '{') {
    auto machine = within_memory("", *content, [&] { return from_snapshot(*content); });
    if (!machine) return fail(of_option(spec, machine.error()));
    return machine;
  }
  if (first == '<') {
    auto machine = from_topology(spec, [&] { return load_xml_topology(*content); });
    if (machine)
      machine->notes.push_back(
          "not read from hwloc XML: free memory, huge pages, limits, settings, GPUs, DAX memory");
    return machine;
  }
  return fail_usage("--machine", fmt::format("'{}' is neither a JSON snapshot nor hwloc XML", spec),
                    written_by);
}

}  // namespace

Expected<Machine> read_live_machine(const std::string& root) {
  const auto topology = load_live_topology(root);
  if (!topology) return fail(topology.error());
  Machine machine = translate(topology->get());
  const Tree tree(root);
  machine.source = root.empty() ? "live" : root;
  if (root.empty()) {
    const long size = ::sysconf(_SC_PAGESIZE);
    if (size > 0) machine.page_size = Bytes{static_cast<std::uint64_t>(size)};
  }
  read_identity(tree, machine);
  read_cpu_kinds(tree, machine);
  read_nodes(tree, machine);
  read_devices(tree, machine);
  read_node_kinds(tree, machine);
  machine.allowance = read_allowance(tree, machine);
  machine.isolated_cpus =
      tree.list<CpuId>("/sys/devices/system/cpu/isolated").value_or(CpuSet{}) & machine.all_cpus();
  read_settings(tree, machine);
  machine.memory_slots = read_memory_slots(tree);
  make_printable(machine);
  return machine;
}

Expected<Machine> read_recorded_machine(const std::string& spec) {
  if (spec.empty()) return fail_usage("--machine", "empty");
  std::error_code error;
  const bool is_file = std::filesystem::exists(spec, error);
  if (file_error_kind(error.value()) == ErrorKind::permission)
    return fail_about(ErrorKind::permission, "--machine",
                      fmt::format("'{}': {}", spec, error.message()));
  auto machine = is_file ? from_file(spec)
                         : from_topology(spec, [&] { return load_synthetic_topology(spec); });
  if (!machine && !is_file && spec.find_first_of("/.") != std::string::npos) {
    // It looks like a path: a missing file is the likelier mistake than a bad description.
    return fail_usage("--machine",
                      fmt::format("no file '{}', and it is not a synthetic "
                                  "description either",
                                  spec),
                      machine.error().hint);
  }
  if (!machine) return machine;
  machine->source = spec;
  make_printable(*machine);
  return machine;
}

}  // namespace numatlas

#include "machine/source.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/read_file.h"
#include "machine/allowance.h"
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
  return {error.kind, fmt::format("--machine: '{}': {}", spec, error.message), error.hint};
}

Expected<Machine> from_snapshot(const std::string& spec, const std::string& content) {
  const auto json = nlohmann::json::parse(content, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorKind::usage, fmt::format("--machine: '{}': not complete JSON", spec),
                "write a snapshot with 'numatlas topology --format json'");
  }
  auto machine = machine_from_json(json);
  if (!machine) return fail(of_option(spec, machine.error()));
  return machine;
}

Expected<Machine> from_topology(const std::string& spec, const Expected<Topology>& topology) {
  if (!topology) return fail(of_option(spec, topology.error()));
  Machine machine = translate(topology->get());
  if (machine.cpus.empty()) {
    return fail(ErrorKind::usage, fmt::format("--machine: '{}' describes no CPU", spec));
  }
  return machine;
}

Expected<Machine> from_file(const std::string& spec) {
  const auto content = read_file(spec, fmt::format("--machine: '{}'", spec), written_by);
  if (!content) return fail(content.error());
  const auto start = content->find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : (*content)[start];
  if (first == '{') return from_snapshot(spec, *content);
  if (first == '<') {
    auto machine = from_topology(spec, load_xml_topology(*content));
    if (machine)
      machine->notes.push_back(
          "not read from hwloc XML: free memory, huge pages, limits, settings, GPUs, DAX memory");
    return machine;
  }
  return fail(ErrorKind::usage,
              fmt::format("--machine: '{}' is neither a JSON snapshot nor hwloc XML", spec),
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
  read_nodes(tree, machine);
  read_devices(tree, machine);
  read_node_kinds(tree, machine);
  machine.allowance = read_allowance(tree, machine);
  read_settings(tree, machine);
  return machine;
}

Expected<Machine> read_recorded_machine(const std::string& spec) {
  if (spec.empty()) return fail(ErrorKind::usage, "--machine: empty");
  std::error_code error;
  const bool is_file = std::filesystem::exists(spec, error);
  if (file_error_kind(error.value()) == ErrorKind::permission)
    return fail(ErrorKind::permission, fmt::format("--machine: '{}': {}", spec, error.message()));
  auto machine = is_file ? from_file(spec) : from_topology(spec, load_synthetic_topology(spec));
  if (!machine && !is_file && spec.find_first_of("/.") != std::string::npos) {
    // It looks like a path: a missing file is the likelier mistake than a bad description.
    return fail(ErrorKind::usage,
                fmt::format("--machine: no file '{}', and it is not a synthetic "
                            "description either",
                            spec),
                machine.error().hint);
  }
  if (machine) machine->source = spec;
  return machine;
}

}  // namespace numatlas

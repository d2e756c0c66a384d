// Where a Machine comes from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "machine/machine.h"

namespace numatlas {

/// The machine this process runs on: hwloc for the shape, sysfs and procfs for the rest.
/// `root` is put before /sys and /proc (tests read recorded trees); topology then comes from
/// hwloc with that root as well.
Expected<Machine> read_live_machine(const std::string& root = "");

/// A recorded machine. `spec` is a file (our JSON snapshot, or hwloc XML: told apart by content) or
/// a synthetic hwloc description such as "package:2 l3:1 core:8 pu:2". Errors
/// are about the spec, and name no option: of_option does.
Expected<Machine> read_recorded_machine(const std::string& spec);

/// The topology of this machine (spec "") or of a recorded one as libhwloc writes it, without its
/// devices; a file of XML is given as it is. What `spec` names was read as a machine before. Errors
/// without a subject: a snapshot (usage), what cannot be read.
Expected<std::string> hwloc_xml(const std::string& spec);

/// Snapshot format: the whole Machine, `schema_version` included; inverse of each other.
nlohmann::json to_json(const Machine& machine);
Expected<Machine> machine_from_json(const nlohmann::json& snapshot);

}  // namespace numatlas

#include "fleet/fleet_json.h"

#include <nlohmann/json.hpp>

namespace numatlas {

using nlohmann::json;

json to_json(const HostKind& kind) {
  return {{"cpu_model", kind.cpu_model}, {"os", kind.os},
          {"cpus", kind.cpus},           {"nodes", kind.nodes},
          {"memory", kind.memory.value}, {"processes", kind.processes},
          {"workers", kind.workers}};
}

HostKind host_kind_from_json(const json& value) {
  HostKind kind;
  kind.cpu_model = value["cpu_model"];
  kind.os = value["os"];
  kind.cpus = value["cpus"];
  kind.nodes = value["nodes"];
  kind.memory = Bytes{value["memory"].get<std::uint64_t>()};
  kind.processes = value["processes"];
  kind.workers = value["workers"];
  return kind;
}

}  // namespace numatlas

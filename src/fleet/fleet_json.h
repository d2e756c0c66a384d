// A fleet and its parts as JSON: how hosts tell rank 0 of themselves, and what files hold.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "fleet/fleet.h"

namespace numatlas {

nlohmann::json to_json(const HostKind& kind);
HostKind host_kind_from_json(const nlohmann::json& value);

}  // namespace numatlas

// A fleet and its parts as JSON: how hosts tell rank 0 of themselves, and what files hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/error.h"
#include "fleet/fleet.h"

namespace numatlas {

struct SlowReport;

/// Version of the files that this program writes and reads; rises when a field changes its meaning
/// or goes.
inline constexpr int fleet_schema_version = 1;

nlohmann::json to_json(const HostKind& kind);
HostKind host_kind_from_json(const nlohmann::json& value);

/// The whole fleet as a file of --json holds it: a line a host, so that no second copy of a large
/// one stands in memory. `slow` is written beside for readers; who reads a file computes it anew.
std::string json_text(const Fleet& fleet, const SlowReport* slow = nullptr);

/// The inverse. Errors (kind usage) name the field, or say of which command the results are.
Expected<Fleet> fleet_from_json(const nlohmann::json& value);
/// The same of text; a broken or truncated one is an error that says so.
Expected<Fleet> fleet_from_json_text(const std::string& text);

/// Suspects as a JSON array: host, verdict, kernels.
nlohmann::json slow_json(const Fleet& fleet, const SlowReport& slow);

}  // namespace numatlas

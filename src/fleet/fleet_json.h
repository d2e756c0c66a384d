// A fleet as a file of `numatlas stream --json` holds it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/error.h"
#include "fleet/fleet.h"

namespace numatlas {

struct SlowReport;

/// The whole fleet, of schema_version 2 (record/report_json.h): one line per host, so that no
/// second copy of a large one stands in memory. Beside what fleet_fields.h lists each host has its
/// `figures`: by kernel the bandwidth of the rounds that count with its interval, or null. `slow`
/// is written beside for readers; who reads a file computes it anew.
std::string json_text(const Fleet& fleet, const SlowReport* slow = nullptr);

/// The inverse, and that of version 1. Errors (kind usage) name the field, or say of which command
/// the results are.
Expected<Fleet> fleet_from_json(const nlohmann::json& value);
/// The same of text; a broken or truncated one is an error that says so.
Expected<Fleet> fleet_from_json_text(const std::string& text);

/// JSON Schema (draft 2020-12) of such a file, made from the same lists of fields.
nlohmann::json fleet_schema();

/// Suspects as a JSON array: host, verdict, kernels.
nlohmann::json slow_json(const Fleet& fleet, const SlowReport& slow);

}  // namespace numatlas

// The record as JSON: one writer, one reader, one schema (docs/result.schema.json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/report.h"

namespace numatlas {

/// Raised when a field changes its meaning or goes; new fields do not raise it.
inline constexpr int schema_version = 2;

/// A report as text, ending in a newline. Arguments may be file names, which are bytes: what is
/// no UTF-8 in them is replaced.
std::string json_text(const RunReport& report);
/// The same, with `results`: reports that it judges.
std::string json_text(const RunReport& report, const std::vector<RunReport>& results);
/// The "results" of a survey or an audit: an array of reports, which must outlive it.
LongMember results_member(const std::vector<RunReport>& reports);

/// Reads what json_text wrote. Error (usage) names the field by its path, without the file: "field
/// 'cases[0].flows' must be an object".
Expected<RunReport> report_from_json(const nlohmann::json& value);

/// JSON Schema (draft 2020-12) of a report, made from the same list of fields.
nlohmann::json report_schema();

}  // namespace numatlas

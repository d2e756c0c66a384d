// A flow in a line, as a table (docs/scenarios.md). flow_text (scenario_file.h) is the other way.
#pragma once

#include <string>
#include <vector>

#include "scenario/table_reader.h"

namespace numatlas {

/// The table of a flow that says the same. Errors have no subject.
Expected<toml::table> table_of_flow(const std::string& line);
/// "chase cpu:4 + read cpu:5" -> its flows.
std::vector<std::string> flows_of_text(const std::string& text);

}  // namespace numatlas

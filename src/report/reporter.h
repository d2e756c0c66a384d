// Output formats: each is a function from a report to text, and a report is all that it sees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/report.h"
#include "report/text_table.h"

namespace numatlas {

struct Reporter {
  const char* name;  ///< as --format takes it
  /// The whole output, ending in a newline. Pure.
  std::string (*text)(const RunReport& report, const TextStyle& style);
};

/// All formats: the table for people first, the others by name.
const std::vector<Reporter>& reporters();
/// "table", "csv", ...
std::vector<std::string> reporter_names();
/// The text of a report in a format that there is.
std::string text_in(std::string_view format, const RunReport& report, const TextStyle& style = {});

/// The views of the report (of several hosts one after the other, where the views say so), with
/// `stats` every flow, and notes.
std::string tables_text(const RunReport& report, const TextStyle& style);
/// The first view as CSV, of several hosts that are shown apart that of the first; "" where there
/// is none.
std::string first_table_csv(const RunReport& report);

}  // namespace numatlas

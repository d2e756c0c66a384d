// Output formats: each is one file in report/formats/, and a report is all that it sees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/report.h"
#include "report/style.h"

namespace numatlas {

struct Reporter {
  const char* name;  ///< as --format takes it
  /// The whole output, ending in a newline. Pure.
  std::string (*text)(const RunReport& report, const TextStyle& style);
};

/// All formats of this build: the table for people first, the others by name. File `foo.cpp` in
/// report/formats/ defines `Reporter foo_reporter()`.
const std::vector<Reporter>& reporters();
/// "table", "csv", ...
std::vector<std::string> reporter_names();
/// The text of a report in a format that there is.
std::string text_in(std::string_view format, const RunReport& report, const TextStyle& style = {});

}  // namespace numatlas

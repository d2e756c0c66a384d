// A whole result for people.
#pragma once

#include <string>

#include "record/report.h"
#include "report/style.h"

namespace numatlas {

/// The views of the report (of several hosts one after the other, where the views say so), with
/// `stats` every flow, and notes.
std::string tables_text(const RunReport& report, const TextStyle& style);
/// The first view as CSV, of several hosts that are shown apart that of the first; "" where there
/// is none.
std::string first_table_csv(const RunReport& report);

}  // namespace numatlas

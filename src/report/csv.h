// Comma-separated values.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// One row a worker, size and metric, with every statistic; SI units.
std::string tidy_csv(const RunReport& report);

/// A field of text, quoted where it must be (RFC 4180). One that a spreadsheet would take for a
/// formula begins with ' instead.
std::string csv_field(const std::string& text);

}  // namespace numatlas

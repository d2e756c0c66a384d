// Any view of a report as text.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Title, notes, table and verdict of a view, ending in an empty line; "" where no case of it has
/// anything to show. Columns without any text, and the least and most of single workers, are left
/// out. Cases without flows have no row in a table and "-" in a matrix.
std::string view_text(const RunReport& report, const View& view);

/// Views, one after the other; where `by_host`, those of each of several hosts apart under its
/// name.
std::string views_text(const RunReport& report, const std::vector<View>& views, bool by_host);

}  // namespace numatlas

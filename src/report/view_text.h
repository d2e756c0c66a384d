// Any view of a report as text.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"
#include "report/style.h"

namespace numatlas {

/// Title, notes, table and verdict of a view, ending in an empty line; "" where nothing of it was
/// measured. Left out are columns without any text, the least and most of single workers, and, but
/// in a matrix, rows without any figure.
std::string view_text(const RunReport& report, const View& view, const TextStyle& style = {});
/// One after the other.
std::string views_text(const RunReport& report, const std::vector<View>& views,
                       const TextStyle& style = {});

}  // namespace numatlas

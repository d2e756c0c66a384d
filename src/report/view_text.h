// Any view of a report as text.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"
#include "record/unit.h"
#include "record/view.h"
#include "report/text_table.h"

namespace numatlas {

/// Title, notes, table and verdict of a view, ending in an empty line; "" where nothing of it was
/// measured. Left out are columns without any text, the least and most of single workers, and, but
/// in a matrix, rows without any figure.
std::string view_text(const RunReport& report, const View& view, const TextStyle& style = {});
/// The view as CSV: a matrix as a square without heads, of a symmetric one what is below the
/// diagonal; any other view with its heads. Numbers stand in the units of the table, without their
/// intervals; a cell is empty where nothing is known.
std::string view_csv(const RunReport& report, const View& view);
/// One after the other.
std::string views_text(const RunReport& report, const std::vector<View>& views,
                       const TextStyle& style = {});

}  // namespace numatlas

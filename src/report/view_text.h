// Any view of a report, and any fact, as text.
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

/// The figure with its unit and interval: "94.5 ns ±0.2 %", "4 MiB to 16 MiB", "45.3 GB/s ±1.0 %",
/// "1.47 times (1.45 to 1.50)", "60.0 ns (20.0 to 150)", "0.00 to 96.8 ns".
std::string figure_text(const Fact& fact);

/// Whether its figure has the star of few visits.
bool has_star(const Fact& fact);
/// What the star means: in short, and with what follows from it.
std::string star_words();
std::string star_note();

}  // namespace numatlas

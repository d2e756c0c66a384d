// What stands below the views of every benchmark.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"
#include "report/text_table.h"

namespace numatlas {

/// For every figure that has samples a table of all flows: n, interval, percentiles, overlap, why
/// it stopped.
std::string stats_text(const RunReport& report, const TextStyle& style = {});

/// What no interval of a single run knows of virtual machines; "" where none is one.
std::string guest_note(const std::vector<Machine>& machines);
/// "triad, 16-byte vectors: fastest of 16, 32, 64", a line for each width; "" where none was tried.
std::string widths_text(const RunReport& report);

/// Skipped, failed and incomplete cases with their reasons, and warnings (each once). `details`:
/// also the order, page sizes obtained, vector widths, visits, pilots and stop reasons.
std::string notes_text(const RunReport& report, bool details);

/// The two gravest of these, and how many there are more. `said`: the text that stands above the
/// tables, which is not said again.
std::string short_notes_text(const RunReport& report, const std::string& said);

}  // namespace numatlas

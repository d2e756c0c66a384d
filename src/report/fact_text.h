// Facts in words: their figures as people read them.
#pragma once

#include <string>

#include "record/unit.h"
#include "record/view.h"

namespace numatlas {

/// The figure with its unit and interval: "94.5 ns ±0.2 %", "4 MiB to 16 MiB", "45.3 GB/s ±1.0 %",
/// "1.47 times (1.45 to 1.50)", "60.0 ns (20.0 to 150)", "unknown: 0.00 to 96.8 ns".
std::string figure_text(const Fact& fact);

/// Whether its figure has the star of few visits.
bool has_star(const Fact& fact);
/// What the star means: in short, and with what follows from it.
std::string star_words();
std::string star_note();

}  // namespace numatlas

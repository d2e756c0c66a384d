// The facts of a report in words, and its headlines: one for each heading of the summary, as the
// terminal, the page and programs have it.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "record/report.h"

namespace numatlas {

/// The figure with its unit and interval: "94.5 ns ±0.2 %", "4 MiB to 16 MiB", "45.3 GB/s ±1.0 %",
/// "1.47 times (1.45 to 1.50)", "60.0 ns (20.0 to 150)", "0.00 to 96.8 ns"; with the star of few
/// visits. In two parts: the value, and "±0.2 %*" or "".
std::string figure_text(const Fact& fact);
std::pair<std::string, std::string> figure_parts(const Fact& fact);
/// What is known of it beside these: of which places, by what, and the ends of the interval where
/// the second part has half of it.
std::string claim_text(const Fact& fact);
/// Its line with the figure in it.
std::string line_text(const Fact& fact);

/// Whether its figure has the star of few visits.
bool has_star(const Fact& fact);
/// What the star means: in short, and with what follows from it.
std::string star_words();
std::string star_note();

/// "123 to 338 ns"
std::string span_text(const std::vector<Estimate>& values, Unit unit);

using FactList = std::vector<const Fact*>;

/// Cells of a matrix of nodes: "local 123 ns, remote 142 to 151 ns, CXL 338 ns"; of a single one
/// its figure. `machine` tells which nodes have no CPUs; nullptr: nothing is known of it.
std::string cells_text(const FactList& cells, const Machine* machine);

/// The facts that are shown below a heading. A figure that may be nothing answers nothing: it
/// stands alone, and only where no other does.
struct Heading {
  std::string words;
  FactList facts;
};
std::vector<Heading> headings_in(const FactList& facts);
/// Its first words, without what the figures are of: "Memory latency".
std::string label_of_heading(const std::string& heading);

struct Headline {
  std::string heading;
  std::string head;    ///< the heading without sizes and pages
  std::string key;     ///< of the fact in front; of cells the middle one of the nearest memory
  std::string name;    ///< what this is in any run: "gpu copy rate, gpu 0"
  std::string where;   ///< of which places, and by what
  Unit unit;           ///< of the fact in front
  Estimate estimate;   ///< the same
  std::string text;    ///< its value: "122 ns"
  std::string spread;  ///< "±0.3 %", after few visits "±0.3 %*"
  std::string brief;   ///< one line: what it is of, and whether there is a knee; the ends of cells
  std::string beside;  ///< the other figures
  std::string claim;   ///< claim_text of the one in front
  bool doubted = false;  ///< of a run that calls itself unreliable, or hardly known
};
/// Of one report, or of all those of a survey. `unreliable`: all of them are.
std::vector<Headline> headlines_of(std::span<const RunReport> reports, bool unreliable);

}  // namespace numatlas

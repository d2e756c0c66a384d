// A view with the figures of a report in it, as all show it: the tables of a terminal, CSV, the
// page and the plots. What stands in which row, by which names, in which unit and in which words is
// decided here, once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"
#include "record/view.h"

namespace numatlas {

struct DrawnCell {
  std::string text;       ///< "12.3 ±1.0 %"; "-": nothing is known
  std::string note = {};  ///< beside it: "L3"
  std::string why = {};   ///< of an empty cell: why
  /// In the unit that the cell shows. `low` and `high`: the interval, or the lowest and the highest
  /// worker. A label that is a number has `value` only; sizes are in bytes.
  std::optional<double> value = {}, low = {}, high = {};
  bool flagged = false;  ///< known to within more than 10 % only
  std::string raw = {};  ///< of a label: as options take it, for CSV
  friend bool operator==(const DrawnCell&, const DrawnCell&) = default;
};

struct DrawnRow {
  /// Of a table, what tells its rows apart, in words: rows of one name stand together, those of one
  /// group have one colour.
  std::string name = {}, group = {};
  std::string line = {};                    ///< over an axis: the line that its point is of
  std::optional<std::size_t> of_case = {};  ///< number of its case in the report; of a table
  std::vector<DrawnCell> cells = {};
  std::vector<std::string> warnings = {};  ///< of its flows, each once; of a table
};

struct DrawnHead {
  std::string text;
  std::optional<double> value;  ///< of a number, as in DrawnCell
  std::string line = {};        ///< over an axis in the rows: the line that its points are of
  std::string unit = {};        ///< of a column of figures: "ns"; "": none, or each its own
  std::string raw = {};         ///< of a label's value: as options take it, for CSV
};

/// Words and unit ("ns", "GB/s", "bytes", "") of what cells or an axis show.
struct DrawnQuantity {
  std::string words, unit;
  bool by_powers = false;  ///< of an axis: steps by ratio
  friend bool operator==(const DrawnQuantity&, const DrawnQuantity&) = default;
};

/// A line across a picture, at a place of its horizontal axis, or of its vertical one (`level`).
struct DrawnMark {
  double at = 0;
  std::string text;
  bool level = false;
  bool wanted = false;  ///< an axis that ends not far before it reaches to it
  friend bool operator==(const DrawnMark&, const DrawnMark&) = default;
};

/// A place on a line that is marked.
struct DrawnSpecial {
  std::string line;  ///< as of the rows
  double x = 0, y = 0;
  std::string text, what;  ///< "knee 150 GB/s"; what such a mark is, for the legend
  friend bool operator==(const DrawnSpecial&, const DrawnSpecial&) = default;
};

/// A table: columns that name its rows, and others. Where a label has its values as columns (View::
/// columns), each of the others is one of these values.
struct Drawn {
  /// What all of it is of, beside the view's `where`, by label; and in words: "host b, 64 MiB".
  std::vector<std::pair<std::string, std::string>> of;
  std::string of_words;
  std::vector<DrawnHead> heads;
  std::size_t left = 0;  ///< columns that name the rows
  std::vector<DrawnRow> rows;

  // How it is drawn.
  /// The column whose figures are drawn: their main one. Where a label has its values as columns
  /// all but the first `left` are. Absent: no figure is known.
  std::optional<std::size_t> main;
  std::string figure;           ///< key of the figure drawn
  DrawnQuantity shown;          ///< of these
  bool less_is_better = false;  ///< of the figure drawn
  std::string spread;           ///< what `low` and `high` of them are
  /// The column that has the places on a horizontal axis, or, where this is `left`, the heads.
  std::optional<std::size_t> axis;
  DrawnQuantity over;  ///< of the axis
  /// Of a matrix of CPUs their places by what they share, and before which of these places there is
  /// a border: 1 between last-level caches, 2 between nodes, 3 between sockets.
  std::vector<std::size_t> order;
  std::map<int, int> borders;
  std::string left_out;  ///< "4 of 8 CPUs: the others were left out", or ""
  std::string cases;     ///< numbers of its cases in the report: "0-3,7"
  /// Of a curve beside others of its form: what tells it from them, and the title of all.
  std::string among, together;
  /// Of a matrix, what its rows and its columns are, for people.
  std::string row_words, column_words;
  std::vector<DrawnMark> marks;
  std::vector<DrawnSpecial> special;
};

/// Nothing where nothing of the view was measured. Several tables where its places have several
/// values of other labels.
std::vector<Drawn> drawn_of(const RunReport& report, const View& view);

/// Of all views of a report; each host that has tables of its own adds one with its name.
std::vector<std::vector<Drawn>> drawn_views(const RunReport& report);

/// Whether each host has tables of its own.
bool shows_hosts_apart(const RunReport& report);

}  // namespace numatlas

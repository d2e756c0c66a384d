// How figures are to be shown: data, drawn by the table reporter, the page and the plots alike. And
// the facts: the few figures of a report that a user acts on, which a survey's summary shows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {

enum class ViewKind {
  table,   ///< one row per case, group or flow
  matrix,  ///< one cell per pair of a row label and a column label
  curve,   ///< a table with an axis (size, load)
};

/// What a view shows one row or cell of. `groups`: the measured flows of a case with CPUs and
/// memory on the same nodes.
enum class ViewLevel { cases, groups, flows };

/// What of a figure is shown.
enum class Part {
  value,
  half_width,     ///< of the 95 % interval, relative
  with_interval,  ///< "12.3 ±1.0 %"
  least,
  most,    ///< over the workers of a case or group
  spread,  ///< "12.3 (12.1-12.6)": least and most; of a single worker as with_interval
  p95,
  p99,
  best,  ///< of the visits to a case; of totals over its workers
};

/// One column of a table, or one of the things that stand in a matrix's cells: a label or a part of
/// a figure.
struct ViewColumn {
  std::string head;    ///< as people read it; units stand in it where they are not the title's
  std::string label;   ///< record/labels.h; "" for a figure
  std::string figure;  ///< key of the figure; "" for a label
  Part part = Part::value;
  /// From the figure's unit to the one shown: 1e9 for ns. 0: each value in the unit that suits it.
  double scale = 1;
  int digits = 2;    ///< behind the point
  std::string unit;  ///< behind each number: " %"
};

/// One table, matrix or picture.
struct View {
  std::string title;  ///< with the unit of its figures
  ViewKind kind = ViewKind::table;
  ViewLevel level = ViewLevel::cases;
  /// Only what has these values, all of them: {"kernel", "read"}. A case without one of these
  /// labels belongs to all: it is what the others are compared with.
  std::vector<std::pair<std::string, std::string>> where = {};
  /// Of a matrix the label whose values are its rows; of a curve the label, or the key of the
  /// figure, on the horizontal axis.
  std::string rows = {};
  /// Label whose values are the columns: of a matrix; of a table or curve, which then has its first
  /// labels as heads of the rows, and the other columns as one cell for each value.
  std::string columns = {};
  bool symmetric = false;                 ///< a cell stands for both orders of its labels
  bool by_host = false;                   ///< of several hosts: shown for each of them
  std::vector<ViewColumn> cells = {};     ///< columns of a table; of a matrix what stands in a cell
  std::vector<std::string> notes = {};    ///< below the title: how to read it
  std::vector<std::string> verdict = {};  ///< below the table: what follows from the figures
};

/// A column of a label.
inline ViewColumn label_column(std::string head, std::string label) {
  ViewColumn column;
  column.head = std::move(head);
  column.label = std::move(label);
  return column;
}
/// A column of a figure, in the unit that people read: ns of times, GB/s of rates.
inline ViewColumn figure_column(std::string head, std::string figure, double scale,
                                Part part = Part::value, int digits = 2, std::string unit = "") {
  return {std::move(head), "", std::move(figure), part, scale, digits, std::move(unit)};
}
inline constexpr double in_ns = 1e9, in_us = 1e6, in_ms = 1e3, in_gb_per_s = 1e-9, in_percent = 100,
                        in_millions = 1e-6, in_millionths = 1e6;

struct Fact {
  std::string key;  ///< what it is: "matrix_latency", "peak_bandwidth"
  /// Where: {"cpu_node", "0"}, {"memory_node", "2"}.
  std::vector<std::pair<std::string, std::string>> where;
  std::string words;  ///< the same for people, without the figure
  Unit unit;
  /// Of several workers or hosts: their median, as sure as the least sure of them.
  Estimate estimate;

  /// What stands before it in the summary; facts of one heading stand together. "": it is not
  /// shown there.
  std::string heading = {};
  /// Its part of the line, with {} where the figure stands: "L1 {}". "": it is a cell of a matrix
  /// of the heading's facts, whose rows and columns are `where`'s first two labels.
  std::string line = {};

  friend bool operator==(const Fact&, const Fact&) = default;
};

/// The label of a fact, "" when it has none.
inline std::string where_of(const Fact& fact, const std::string& name) {
  for (const auto& [label, text] : fact.where) {
    if (label == name) return text;
  }
  return "";
}

}  // namespace numatlas

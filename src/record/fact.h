// What a user acts on: the few figures of a report that a survey's summary shows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {

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

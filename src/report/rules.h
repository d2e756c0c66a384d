// What a report shows, as rules over the labels of its cases: figures that follow from others,
// tables and matrices, facts. In texts "{label}" is the label of the first measured case that the
// text is about, {isa} the instruction set, {size} a size as people read it, {sizes} those of a
// table ("64 MiB to 256 MiB"), "{label|place}" the words for a memory, and "{label|thread}"
// "4 threads". What stands in [] is left out where the cases have no such label.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/labels.h"
#include "record/report.h"
#include "record/view.h"
#include "report/hook.h"

namespace numatlas {

/// "bind:2" is "node 2", "gpu:1" "GPU 1"; others are as they were asked for.
std::string place_words(const std::string& memory);

/// `key` of a case is `factor` times its total `of`.
struct Scaled {
  std::string key, of;
  double factor = 1;
};

/// `key` is what a figure is to that of another case, which has this value of a label and is alike.
/// A case that has the value itself gets none.
struct Against {
  std::string key, figure;
  std::string label, value = {};  ///< {"pattern", "own"}; "": the first case's value
  /// Compares cases that are alike in these labels, by the medians over their flows. Empty:
  /// compares flows of the same worker, in cases that are alike in all but `label`.
  std::vector<std::string> alike = {};
  enum class As {
    times,  ///< so many times as large; of cases, 1 of the other one itself
    more,   ///< the difference
    less,
    other  ///< that of the other one itself
  };
  As as = As::times;
};

/// Says what the values of a label mean: in one note where all cases have the same; else it is a
/// cell, with a note for each value.
struct Legend {
  std::string label, one, each;  ///< "CPUs: {}"; "{}: copied by CPUs, {}" (value, words)
  /// By value; the last stands for all others.
  std::vector<std::pair<std::string, std::string>> words;
};

/// A table, matrix or curve for each group of cases.
struct Table {
  std::string title;
  ViewKind kind = ViewKind::table;
  ViewLevel level = ViewLevel::cases;
  /// One for each group of cases alike in these; of a matrix also in size, where a cell would have
  /// several.
  std::vector<std::string> apart = {};
  std::vector<std::string> if_several = {};  ///< only where these labels have several values
  /// Only groups whose first case has all of these: "label", "label=value", "!label"; a figure.
  std::vector<std::string> only = {};
  bool instead = false;                 ///< only where the one before it was not shown
  bool first = false;                   ///< only the first of these groups
  std::string rows = {}, columns = {};  ///< as a View has them
  std::vector<ViewColumn> cells = {};
  /// Of workers that ran in turn and have no sum; none: as `cells`.
  std::vector<ViewColumn> cells_in_turn = {};
  std::vector<Legend> legends = {};
  std::vector<std::string> notes = {};  ///< one that is left out is no line
  /// Adds what follows from the group's cases, or the machines: notes, a verdict.
  Hook<void(View&, const CaseGroup&, const RunReport&)> finish = {};
};

/// A fact for each case whose figure was measured, past caches.
struct FactRule {
  std::string figure, heading;
  std::string key = {};                   ///< "": as the figure
  std::vector<std::string> where;         ///< labels; "gpu=gpus": as gpu the label gpus
  std::string words, line;                ///< "{}" of `line` is the figure
  std::vector<std::string> only = {};     ///< as a Table has it, of cases
  std::vector<std::string> best_of = {};  ///< only the best of all cases alike in these; none: each
  /// The summary shows only the highest, and the lowest of the cases that are `comparable` with it.
  bool extremes = false;
  std::vector<std::string> comparable = {"pages", "stores", "threads"};  ///< alike in these labels
  /// The summary shows only the best of all cases alike in these; none: each.
  std::vector<std::string> best_shown = {};
};

std::vector<Figure> scaled_figures(const std::vector<Scaled>& rules, const Case& visit);
/// The case that is alike in all but this label, which has `value` there, and in kernel, stores,
/// size and pages; nullptr where there is none.
const Case* find_alike(const RunReport& report, const Case& one, const std::string& label,
                       const std::string& value);
void add_against(const std::vector<Against>& rules, RunReport& report);
/// The flow of the same worker in the case alike but for this label, which has `value` there;
/// nullptr where there is none that has the figure.
const FlowResult* find_against(const Against& rule, const RunReport& report, const Case& one,
                               const FlowResult& flow);
std::vector<View> views_of(const std::vector<Table>& tables, const RunReport& report);
std::vector<Fact> facts_of(const std::vector<FactRule>& rules, const RunReport& report);

}  // namespace numatlas

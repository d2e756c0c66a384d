// What tells the rows of a view apart, and what they are called for people.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/labels.h"
#include "record/report.h"
#include "record/view.h"

namespace numatlas {

using LabelTexts = std::vector<std::pair<std::string, std::string>>;

/// "read, regular, 4 workers", "node 0 -> 2"; without labels that are "-". Heads of the view's
/// columns name their labels.
std::string words_of(const View& view, const LabelTexts& labels);

/// "CPU node": what a side of a matrix is that has the values of a label.
std::string side_words(const std::string& label);

/// "buffer size": of a label or figure, for the words of an axis; `head`: of its column, or "".
std::string axis_words(const std::string& key, const std::string& head);

/// The rows of a view with their labels.
class NamedRows {
 public:
  /// Both must outlive it.
  NamedRows(const RunReport& report, const View& view, std::vector<ViewItem> items);

  const std::vector<ViewItem>& items() const { return items_; }
  /// Of each row, its text of a label.
  const std::vector<std::string>& texts(const std::string& label) const;
  LabelTexts labels_of(std::size_t row, const std::vector<std::string>& names) const;
  std::string words_of(std::size_t row, const std::vector<std::string>& names) const {
    return numatlas::words_of(view_, labels_of(row, names));
  }

  /// As few labels as tell apart the rows that are alike in `known`; the first of them from
  /// `first`.
  std::vector<std::string> telling(const std::vector<std::string>& known,
                                   const std::vector<std::string>& first) const;
  /// Whether buffer sizes are chosen by numbers of workers: the more there are, the less each has.
  bool size_follows_workers() const;
  /// Name and group of each row of a table; `telling`: labels that tell the rows apart.
  std::vector<std::pair<std::string, std::string>> names(const std::vector<std::string>& telling,
                                                         const std::string& otherwise) const;

 private:
  /// Of each row these labels in one text.
  std::vector<std::string> keys(const std::vector<std::string>& names) const;
  bool are_unique(const std::vector<std::string>& names) const;
  /// Whether rows that are alike in `known` differ in a label.
  bool differ(const std::vector<std::string>& known, const std::string& name) const;

  const RunReport& report_;
  const View& view_;
  std::vector<ViewItem> items_;
  mutable std::map<std::string, std::vector<std::string>> texts_;  ///< those that were asked for
};

}  // namespace numatlas

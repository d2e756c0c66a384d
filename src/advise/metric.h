// A figure that a program prints itself, instead of its time.
#pragma once

#include <regex>
#include <string>

#include "base/error.h"

namespace numatlas {

class Metric {
 public:
  /// "time", or a regular expression (ECMAScript) with one group, around the number. `higher`: more
  /// of it is better. Errors (usage) name --metric.
  static Expected<Metric> parse(const std::string& text, bool higher);

  bool is_time() const { return is_time_; }
  bool higher() const { return higher_; }
  const std::string& text() const { return text_; }

  /// The number in an output, each of whose lines is searched. Error (usage) without the option's
  /// name: it is there never, or more than once, or is not positive.
  Expected<double> find_in(const std::string& output) const;
  /// What a race compares: less is better.
  double cost_of(double value) const { return higher_ ? 1 / value : value; }

 private:
  bool is_time_ = true, higher_ = false;
  std::string text_;
  std::regex pattern_;
};

}  // namespace numatlas

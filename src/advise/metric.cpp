#include "advise/metric.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// The standard library's search takes a part of the stack for each character.
constexpr std::size_t longest_line = 4096;

}  // namespace

Expected<Metric> Metric::parse(const std::string& text, bool higher) {
  Metric metric;
  metric.text_ = text;
  metric.higher_ = higher;
  metric.is_time_ = text == "time";
  if (metric.is_time_) {
    if (higher) return fail_usage("--higher", "less time is always better", "leave it out");
    return metric;
  }
  try {
    metric.pattern_ = std::regex(text);
  } catch (const std::regex_error&) {
    return fail_usage("--metric", fmt::format("'{}' is not a regular expression", text),
                      "time, or for example 'Triad: *([0-9.]+)'");
  }
  if (metric.pattern_.mark_count() != 1)
    return fail_usage("--metric",
                      fmt::format("'{}' has {} groups", text, metric.pattern_.mark_count()),
                      "put parentheses around the number only: 'Triad: *([0-9.]+)'");
  return metric;
}

Expected<double> Metric::find_in(const std::string& output) const {
  std::optional<std::string> number;
  std::istringstream lines(output);
  bool too_long = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > longest_line) {
      too_long = true;
      continue;
    }
    for (std::sregex_iterator match(line.begin(), line.end(), pattern_), end; match != end;
         ++match) {
      if (number)
        return fail(ErrorKind::usage,
                    fmt::format("printed the metric more than once ('{}' and '{}')", *number,
                                (*match)[1].str()));
      number = (*match)[1].str();
    }
  }
  if (!number)
    return fail(ErrorKind::usage,
                too_long ? fmt::format("printed no metric (lines of more than {} characters are "
                                       "not searched)",
                                       longest_line)
                         : "printed no metric");
  char* end = nullptr;
  const double value = std::strtod(number->c_str(), &end);
  if (number->empty() || *end != '\0' || !std::isfinite(value))
    return fail(ErrorKind::usage, fmt::format("printed '{}', which is not a number", *number));
  if (!(value > 0))
    return fail(ErrorKind::usage,
                fmt::format("printed {}: only metrics above 0 can be compared", *number));
  return value;
}

}  // namespace numatlas

#include "report/fact_text.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/size_list.h"
#include "base/units.h"
#include "record/told.h"

namespace numatlas {
namespace {

/// Files keep seven digits of a number, so that 16 MiB come back as 16777220: what is a whole
/// number of KiB but for that is one.
std::string size_in_words(double bytes) {
  constexpr double kept = 1e-6;
  const double whole = std::round(bytes / kib) * kib;
  const double size = std::abs(whole - bytes) <= kept * bytes ? whole : bytes;
  return compact_text(Bytes{static_cast<std::uint64_t>(size)});
}

}  // namespace

std::string interval_text(const Fact& fact) {
  const auto width = half_width(fact.estimate);
  if (!width || is_unknown(fact.estimate)) return "";
  return fmt::format(" +-{:.{}f}%{}", *width * 100, *width < 0.0995 ? 1 : 0,
                     is_of_few_visits(fact.estimate) ? "*" : "");
}

bool has_star(const Fact& fact) {
  const bool with_interval = fact.unit == "s" || fact.unit == "B/s" || fact.unit == "1/s";
  return with_interval && is_of_few_visits(fact.estimate);
}

std::string star_note() {
  return fmt::format("* fewer than {} visits: the interval does not cover changes between visits",
                     least_visits);
}

std::string figure_text(const Fact& fact) {
  const Estimate& estimate = fact.estimate;
  if (fact.unit == "B")
    return fmt::format("{} to {}", size_in_words(estimate.low.value_or(estimate.value)),
                       size_in_words(estimate.high.value_or(estimate.value)));
  const Reading reading = reading_of(estimate.value, fact.unit);
  const bool times = reading.scale == 1;
  const auto number = [&](double value) {
    return times ? fmt::format("{:.2f}", value) : three_digits(value * reading.scale);
  };
  const std::string text = told(estimate, number) + reading.unit;
  if (!times) return text + interval_text(fact);
  if (!estimate.low || !estimate.high || is_unknown(estimate)) return text;
  return text + fmt::format(" ({:.2f} to {:.2f})", *estimate.low, *estimate.high);
}

}  // namespace numatlas

#include "report/fact_text.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/size_list.h"
#include "base/units.h"

namespace numatlas {
namespace {

std::string time_in_words(double seconds) {
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  return three_digits(seconds * 1e3) + " ms";
}

/// Files keep seven digits of a number, so that 16 MiB come back as 16777220: what is a whole
/// number of KiB but for that is one.
std::string size_in_words(double bytes) {
  constexpr double kept = 1e-6;
  const double whole = std::round(bytes / kib) * kib;
  const double size = std::abs(whole - bytes) <= kept * bytes ? whole : bytes;
  return compact_text(Bytes{static_cast<std::uint64_t>(size)});
}

}  // namespace

std::string three_digits(double value) {
  const double size = value < 0 ? -value : value;
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string interval_text(const Fact& fact) {
  const auto width = half_width(fact.estimate);
  if (!width) return "";
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
  if (fact.unit == "s") return time_in_words(estimate.value) + interval_text(fact);
  if (fact.unit == "B")
    return fmt::format("{} to {}", size_in_words(estimate.low.value_or(estimate.value)),
                       size_in_words(estimate.high.value_or(estimate.value)));
  if (fact.unit == "B/s")
    return three_digits(estimate.value * 1e-9) + " GB/s" + interval_text(fact);
  if (fact.unit == "1/s") return three_digits(estimate.value * 1e-6) + " M/s" + interval_text(fact);
  const std::string times = fmt::format("{:.2f} times", estimate.value);
  if (!estimate.low || !estimate.high) return times;
  return times + fmt::format(" ({:.2f} to {:.2f})", *estimate.low, *estimate.high);
}

}  // namespace numatlas

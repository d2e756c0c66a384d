#include "record/unit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/units.h"
#include "record/estimate.h"

namespace numatlas {
namespace {

constexpr const char* times = " times";

/// Files keep seven digits of a number, so that 16 MiB come back as 16777220: what is a whole
/// number of KiB but for that is one.
std::string size_in_words(double bytes) {
  constexpr double kept = 1e-6;
  const double whole = std::round(bytes / kib) * kib;
  const double size = std::abs(whole - bytes) <= kept * bytes ? whole : bytes;
  return to_text(Bytes{static_cast<std::uint64_t>(size)});
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string short_number(double value, int decimals) {
  const double size = std::abs(value);
  if (!(size > 0)) return fmt::format("{:.{}f}", value, decimals);
  constexpr double very_large = 1e12;
  if (size >= very_large) return fmt::format("{:.3e}", value);
  // Four digits; where rounding carries a digit further, there is one less behind the point.
  const int before = static_cast<int>(std::floor(std::log10(size * (1 + 0.5e-4)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - before, 0, decimals));
}

const char* plus_minus() { return has_unicode() ? "±" : "+-"; }

std::string half_text(double part) { return part < 0.0005 ? "<0.1 %" : percent_text(part); }

std::string plus_minus_text(double part) {
  return std::string(" ") + plus_minus() + half_text(part);
}

Reading reading_of(double value, Unit unit) {
  struct Step {
    double least;
    Reading reading;
  };
  // What rounds up to the next unit is in that one. python/numatlas/units.py has the same steps.
  const std::array<Step, 4> of_times{{{0.9995, {1, " s"}},
                                      {0.9995e-3, {1e3, " ms"}},
                                      {0.99995e-5, {1e6, has_unicode() ? " µs" : " us"}},
                                      {0, {1e9, " ns"}}}};
  constexpr std::array<Step, 5> of_rates{{{0.9995e12, {1e-12, " TB/s"}},
                                          {1e8, {1e-9, " GB/s"}},
                                          {1e5, {1e-6, " MB/s"}},
                                          {100, {1e-3, " kB/s"}},
                                          {0, {1, " B/s"}}}};
  const auto fitting = [&](const auto& steps) {
    return std::ranges::find_if(steps,
                                [&](const Step& one) { return !(std::abs(value) < one.least); })
        ->reading;
  };
  if (unit == "s") return fitting(of_times);
  if (unit == "B/s") return fitting(of_rates);
  return unit == "1/s" ? Reading{1e-6, " M/s"} : Reading{1, times};
}

std::string quantity_text(double value, Unit unit) {
  if (unit == "B") return to_rounded_text(Bytes{static_cast<std::uint64_t>(value)});
  if (!unit.is_time_or_rate() && unit != "1")
    return fmt::format("{:g}{}{}", value, unit.is_none() ? "" : " ", unit.symbol());
  if (unit == "1") return three_digits(value);
  const Reading reading = reading_of(value, unit);
  // A rate of a few operations a second is no 0.00 M/s.
  if (unit != "s" && value * reading.scale < 0.001)
    return fmt::format("{:.3g} {}", value, unit.symbol());
  return three_digits(value * reading.scale) + reading.unit;
}

std::string value_text(const Estimate& estimate, Unit unit) {
  if (unit == "B")
    return fmt::format("{} to {}", size_in_words(estimate.low.value_or(estimate.value)),
                       size_in_words(estimate.high.value_or(estimate.value)));
  const Reading reading = reading_of(estimate.value, unit);
  const auto number = [&](double value) { return three_digits(value * reading.scale); };
  return is_unknown(estimate) ? told(estimate, number, reading.unit)
                              : number(estimate.value) + reading.unit;
}

std::string spread_text(const Estimate& estimate, Unit unit) {
  const auto width = half_width(estimate);
  if (!width || unit == "B" || is_unknown(estimate)) return "";
  const Reading reading = reading_of(estimate.value, unit);
  if (reading.unit != times && !is_wide(estimate)) return plus_minus() + half_text(*width);
  const std::string low = three_digits(*estimate.low * reading.scale),
                    high = three_digits(*estimate.high * reading.scale);
  return low == high ? "" : fmt::format("({} to {})", low, high);
}

std::string estimate_text(const Estimate& estimate, Unit unit) {
  const std::string spread = spread_text(estimate, unit);
  return value_text(estimate, unit) + (spread.empty() ? "" : " " + spread);
}

std::string percent_text(double part) {
  return part >= 0.0995 ? fmt::format("{:.0f} %", part * 100) : fmt::format("{:.1f} %", part * 100);
}

std::string change_text(double change) {
  return std::string(change < 0 ? "-" : "+") + percent_text(std::abs(change));
}

}  // namespace numatlas

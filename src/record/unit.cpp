#include "record/unit.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/units.h"

namespace numatlas {

Better better_of(const std::string& unit) {
  return unit == "s" || unit == unit_of_cost ? Better::lower : Better::higher;
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

Reading reading_of(double value, const std::string& unit) {
  if (unit == "B/s") return {1e-9, " GB/s"};
  if (unit == "1/s") return {1e-6, " M/s"};
  if (unit != "s") return {1, " times"};
  if (value < 0.9995e-6) return {1e9, " ns"};
  if (value < 0.9995e-3) return {1e6, " us"};
  return value < 0.9995 ? Reading{1e3, " ms"} : Reading{1, " s"};
}

std::string quantity_text(double value, const std::string& unit) {
  if (unit == "B") return to_rounded_text(Bytes{static_cast<std::uint64_t>(value)});
  if (unit != "s" && unit != "B/s" && unit != "1/s" && unit != "1")
    return fmt::format("{:g}{}{}", value, unit.empty() ? "" : " ", unit);
  if (unit == "1") return three_digits(value);
  const Reading reading = reading_of(value, unit);
  // A rate of a few bytes or operations a second is no 0.00 GB/s.
  if (unit != "s" && value * reading.scale < 0.001) return fmt::format("{:.3g} {}", value, unit);
  return three_digits(value * reading.scale) + reading.unit;
}

std::string percent_text(double part) {
  return part >= 0.0995 ? fmt::format("{:.0f} %", part * 100) : fmt::format("{:.1f} %", part * 100);
}

std::string change_text(double change) {
  return std::string(change < 0 ? "-" : "+") + percent_text(std::abs(change));
}

}  // namespace numatlas

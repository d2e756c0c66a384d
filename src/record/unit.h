// Units of figures: which way is better, and how people read values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "record/estimate.h"

namespace numatlas {

enum class Better { lower, higher, neither };

/// The unit that a figure's values are stored in, always the base unit: "s", "B/s", "1/s"
/// (operations per second), "B", "1" (ratios and shares), "cost" (what a program prints of itself
/// and of which less is better), "" (no figure). A symbol that is none of these does not compile.
class Unit {
 public:
  constexpr Unit() = default;
  consteval Unit(const char* symbol) : index_(*index_of(symbol)) {}
  /// nullopt: no unit has this symbol.
  static constexpr std::optional<Unit> named(std::string_view symbol) {
    const auto index = index_of(symbol);
    return index ? std::optional(Unit(*index)) : std::nullopt;
  }

  constexpr const char* symbol() const { return table[index_].symbol; }
  /// As OpenMetrics and shell variables write it: "bytes_per_second"; "" where there is none.
  constexpr const char* name() const { return table[index_].name; }
  constexpr Better better() const { return table[index_].better; }
  /// Of what is measured: not of counts, sizes and ratios.
  constexpr bool is_time_or_rate() const { return table[index_].is_time_or_rate; }
  constexpr bool is_none() const { return index_ == 0; }
  friend bool operator==(Unit, Unit) = default;
  friend auto operator<=>(Unit, Unit) = default;

 private:
  struct Row {
    const char* symbol;
    const char* name;
    Better better;
    bool is_time_or_rate;
  };
  static constexpr std::array<Row, 7> table{{{"", "", Better::neither, false},
                                             {"s", "seconds", Better::lower, true},
                                             {"B/s", "bytes_per_second", Better::higher, true},
                                             {"1/s", "per_second", Better::higher, true},
                                             {"B", "bytes", Better::neither, false},
                                             {"1", "ratio", Better::higher, false},
                                             {"cost", "", Better::lower, false}}};

  constexpr explicit Unit(std::uint8_t index) : index_(index) {}
  static constexpr std::optional<std::uint8_t> index_of(std::string_view symbol) {
    for (std::uint8_t i = 0; i < table.size(); ++i)
      if (symbol == table[i].symbol) return i;
    return std::nullopt;
  }

  std::uint8_t index_ = 0;
};

/// With three significant digits: "94.5", "1340".
std::string three_digits(double value);

/// Scale and unit in which people read a value of this size: nanoseconds up to 10 µs, GB/s from 0.1
/// to 1000 GB/s; " times" of what has no unit.
struct Reading {
  double scale = 1;
  const char* unit = "";
};
Reading reading_of(double value, Unit unit);

/// The value with its unit and interval: "94.5 ns ±0.2 %", "4 MiB to 16 MiB", "45.3 GB/s ±1.0 %",
/// "1.47 times (1.45 to 1.50)", "60.0 ns (20.0 to 150)", "0.00 to 96.8 ns".
std::string estimate_text(const Estimate& estimate, Unit unit);
/// Its two parts: "94.5 ns", and "±0.2 %", or both ends where the interval is wide: "(20.0 to
/// 150)". The second is "" where there is no interval, or where the first is one: "4 MiB to 16
/// MiB", "0.00 to 96.8 ns".
std::string value_text(const Estimate& estimate, Unit unit);
std::string spread_text(const Estimate& estimate, Unit unit);

/// "94.5 ns", "45.3 GB/s", "1.40", "32 MiB".
std::string quantity_text(double value, Unit unit);

/// At most `decimals` digits behind the point, and at most four that count: "1.23", "12.35",
/// "123.5", "1696".
std::string short_number(double value, int decimals);

/// The sign before half of an interval: "±", "+-" in ASCII.
const char* plus_minus();
/// Half of a 95 % interval as a part of the value: "5.3 %", "18 %", "<0.1 %".
std::string half_text(double part);
/// " ±5.3 %", behind the value.
std::string plus_minus_text(double part);

/// A part of 1, not negative: "18 %", "5.3 %".
std::string percent_text(double part);
/// The same with its sign: "-18 %", "+5.3 %".
std::string change_text(double change);

}  // namespace numatlas

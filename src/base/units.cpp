#include "base/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <bit>
#include <cstdint>
#include <optional>

namespace numatlas {
namespace {

struct Number {
  double value;
  std::string_view unit;
};

Expected<Number> split_number(std::string_view text) {
  if (const auto comma = decimal_comma(text)) return fail(*comma);
  const std::string copy(text);
  char* end = nullptr;
  // Only digits and one point: strtod alone would take "inf", "nan", "0x10" and "1e9".
  const std::size_t digits = copy.find_first_not_of("0123456789.");
  if (digits == 0 || copy.empty()) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a number with a unit", text));
  }
  const std::string number = copy.substr(0, digits);
  const double value = std::strtod(number.c_str(), &end);
  if (*end != '\0') return fail(ErrorKind::usage, fmt::format("'{}' is not a number", text));
  const std::size_t unit =
      digits == std::string::npos ? copy.size() : copy.find_first_not_of(' ', digits);
  return Number{value, text.substr(std::min(unit, text.size()))};
}

/// Bytes in a unit, 0 where the unit is unknown.
double unit_bytes(std::string_view unit) {
  if (unit == "B") return 1;
  constexpr std::string_view prefixes = "kmgtp";
  if (unit.empty()) return 0;
  const auto power = prefixes.find(static_cast<char>(std::tolower(unit[0])));
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "iB" || rest == "ib") {
    return std::pow(1024.0, static_cast<double>(power + 1));
  }
  return rest == "B" ? std::pow(1000.0, static_cast<double>(power + 1)) : 0;
}

/// Nanoseconds in a unit of time, 0 where the unit is unknown.
double unit_nanoseconds(std::string_view unit) {
  if (unit == "s") return 1e9;
  if (unit == "ms") return 1e6;
  if (unit == "us") return 1e3;
  if (unit == "ns") return 1;
  if (unit == "h") return 3600e9;
  if (unit == "d") return 24 * 3600e9;
  return unit == "m" || unit == "min" ? 60e9 : 0;
}

/// The value of one such unit; of no base unit where it is unknown.
Quantity quantity_of(std::string_view unit) {
  if (const double time = unit_nanoseconds(unit); time > 0) return {time / 1e9, "s"};
  if (!unit.ends_with("/s")) return {unit_bytes(unit), "B"};
  unit.remove_suffix(2);
  if (unit.ends_with('B')) return {unit_bytes(unit), "B/s"};
  // Operations are counted in powers of 1000.
  return {unit.empty() ? 1 : unit_bytes(std::string(unit) + "B"), "1/s"};
}

struct Step {
  const char* name;
  std::uint64_t bytes;
};
constexpr std::array<Step, 5> binary_units{
    {{"PiB", gib* mib}, {"TiB", gib* kib}, {"GiB", gib}, {"MiB", mib}, {"KiB", kib}}};

}  // namespace

std::string to_text(Bytes bytes) {
  for (const Step& unit : binary_units) {
    if (bytes.value != 0 && bytes.value % unit.bytes == 0) {
      return fmt::format("{} {}", bytes.value / unit.bytes, unit.name);
    }
  }
  return fmt::format("{} B", bytes.value);
}

std::string to_rounded_text(Bytes bytes) {
  for (const Step& unit : binary_units) {
    if (bytes.value < unit.bytes) continue;
    const double value = static_cast<double>(bytes.value) / static_cast<double>(unit.bytes);
    return bytes.value % unit.bytes == 0 ? fmt::format("{} {}", bytes.value / unit.bytes, unit.name)
                                         : fmt::format("{:.1f} {}", value, unit.name);
  }
  return fmt::format("{} B", bytes.value);
}

std::optional<Error> decimal_comma(std::string_view text) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  const auto comma = text.find(',');
  if (comma == 0 || comma == std::string_view::npos || !digit(comma - 1) || !digit(comma + 1))
    return std::nullopt;
  if (text.find(',', comma + 1) != std::string_view::npos) return std::nullopt;
  std::string point(text);
  point[comma] = '.';
  return Error{ErrorKind::usage, fmt::format("'{}' is no number: decimals take a point", text),
               fmt::format("write {}", point)};
}

Expected<Bytes> parse_bytes(std::string_view text, std::uint64_t bare_unit) {
  const auto number = TRY(split_number(text));
  const double unit =
      number.unit.empty() ? static_cast<double>(bare_unit) : unit_bytes(number.unit);
  if (unit == 0) {
    return fail(ErrorKind::usage, fmt::format("'{}' has an unknown unit", text),
                "use B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000)");
  }
  const double bytes = number.value * unit;
  if (!(bytes >= 1)) {
    return fail(ErrorKind::usage, fmt::format("'{}' must be greater than 0", text));
  }
  if (bytes != std::floor(bytes)) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a whole number of bytes", text));
  }
  if (bytes >= 9.2e18) return fail(ErrorKind::usage, fmt::format("'{}' is too large", text));
  return Bytes{static_cast<std::uint64_t>(bytes)};
}

Expected<Nanoseconds> parse_duration(std::string_view text) {
  const auto number = split_number(text);
  if (const auto comma = decimal_comma(text)) return fail(*comma);
  if (!number) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a time", text),
                "use 5 or 5s (seconds), 500ms, 2m (minutes), 36h or 7d");
  }
  const double unit = unit_nanoseconds(number->unit.empty() ? "s" : number->unit);
  if (unit == 0) {
    return fail(ErrorKind::usage, fmt::format("'{}' has an unknown unit of time", text),
                "use ns, us, ms, s, m, h or d");
  }
  const double time = number->value * unit;
  if (time > 9e18) return fail(ErrorKind::usage, fmt::format("'{}' is too large", text));
  if (!(time >= 1)) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a time of at least 1 ns", text));
  }
  return Nanoseconds(static_cast<std::int64_t>(time));
}

Expected<Quantity> parse_quantity(std::string_view text) {
  const auto number = TRY(split_number(text));
  if (!(number.value > 0))
    return fail(ErrorKind::usage, fmt::format("'{}' must be greater than 0", text));
  if (number.unit.empty()) return fail(ErrorKind::usage, fmt::format("'{}' has no unit", text));
  const Quantity one = quantity_of(number.unit);
  if (!(one.value > 0))
    return fail(ErrorKind::usage, fmt::format("'{}' has an unknown unit", text));
  return Quantity{number.value * one.value, one.unit};
}

Expected<double> parse_part(std::string_view text) {
  if (const auto comma = decimal_comma(text)) return fail(*comma);
  const bool percent = text.ends_with('%');
  const std::string_view number = text.substr(0, text.size() - (percent ? 1 : 0));
  double value = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool unclear = !percent && value >= 1;  // 1: all, or 1 %?
  if (percent) value /= 100;
  if (unclear || code != std::errc{} || end != number.data() + number.size() || !(value > 0) ||
      value > 1) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a fraction between 0 and 1", text),
                "write 1% or 0.01");
  }
  return value;
}

std::string to_text(Nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

namespace {

constexpr const char* forms =
    "use whole MiB or a unit: 512, 48KiB, a range of powers of two such as 1-2048 or 32KiB-2GiB, "
    "or a list such as 64,128,300";

tl::unexpected<Error> bad_size(const std::string& what) {
  return fail_usage("--size", what, forms);
}

Expected<Bytes> parse_one(std::string_view text) {
  const auto bytes = parse_bytes(text, mib);
  if (!bytes) return bad_size(bytes.error().message);
  const bool bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (bare && bytes->value % mib != 0) return bad_size(fmt::format("'{}' is not whole MiB", text));
  return *bytes;
}

Expected<std::vector<Bytes>> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == 0) return bad_size(fmt::format("'{}' is negative or has no start", text));
  // "1-64MiB": a bare start takes the end's unit only when it is MiB, so no guessing here.
  const auto low = TRY(parse_one(text.substr(0, dash)));
  const auto high = TRY(parse_one(text.substr(dash + 1)));
  if (high < low) return bad_size(fmt::format("the range '{}' ends before it starts", text));
  std::vector<Bytes> sizes;
  for (std::uint64_t size = std::bit_ceil(low.value); size <= high.value; size *= 2) {
    sizes.push_back(Bytes{size});
  }
  if (sizes.empty()) return bad_size(fmt::format("no power of two lies within '{}'", text));
  return sizes;
}

}  // namespace

Expected<std::vector<Bytes>> parse_sizes(std::string_view text) {
  if (text.empty()) return bad_size("the list is empty");
  const bool list = text.find(',') != std::string_view::npos;
  const bool range = text.find('-') != std::string_view::npos;
  if (list && range) return bad_size(fmt::format("'{}' mixes ranges and lists", text));
  if (range) return parse_range(text);
  std::vector<Bytes> sizes;
  while (true) {
    const auto comma = text.find(',');
    const auto size = parse_one(text.substr(0, comma));
    const auto point = size ? std::nullopt : decimal_comma(text);  // "0,5": no size is 0
    if (point) return fail_usage("--size", point->message, point->hint);
    if (!size) return fail(size.error());
    if (std::find(sizes.begin(), sizes.end(), *size) == sizes.end()) sizes.push_back(*size);
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

std::string compact_text(Bytes bytes) {
  std::string text = to_text(bytes);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

}  // namespace numatlas

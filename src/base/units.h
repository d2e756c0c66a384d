// Quantities and how people write them.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <vector>
#include "base/error.h"

namespace numatlas {

/// A number of bytes.
struct Bytes {
  std::uint64_t value = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};
inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

/// Times inside the engine: whole nanoseconds on the host's CLOCK_MONOTONIC.
using Nanoseconds = std::chrono::nanoseconds;
/// CLOCK_MONOTONIC, the clock that all processes of a host share.
inline std::int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / Nanoseconds(1);
}

/// Shortest exact text in binary units: "48 KiB", "1 GiB", "4097 B".
std::string to_text(Bytes bytes);
/// Rounded for people: "23.4 GiB".
std::string to_rounded_text(Bytes bytes);

/// The error of a number with a decimal comma ("0,5", "1,5GiB"), nullopt for any other text. Every
/// reader of numbers asks it before its own error.
std::optional<Error> decimal_comma(std::string_view text);

/// Reads "48KiB", "2GiB", "1.5GiB", "64k", "512M", "1G", "4096B", "4096"; a bare number counts in
/// `bare_unit` bytes. K/M/G/T/P with or without iB are powers of 1024; kB/MB/GB/TB are powers of
/// 1000. Errors (kind usage): zero, negative, not a whole number of bytes, over 2^63.
Expected<Bytes> parse_bytes(std::string_view text, std::uint64_t bare_unit = 1);

/// Reads "1.5s", "200ms", "30us", "2m", "36h", "7d" or a bare number of seconds; more than 0.
Expected<Nanoseconds> parse_duration(std::string_view text);
/// A value in its base unit: "s", "B/s", "1/s" (operations per second) or "B".
struct Quantity {
  double value = 0;
  const char* unit = "";
};
/// Reads "350GB/s", "1.5GiB/s", "20M/s", "120ns", "64MiB": a number above 0 with its unit. Error:
/// kind usage.
Expected<Quantity> parse_quantity(std::string_view text);
/// Reads a part of a whole, "1%" or "0.01": more than 0, at most 1. Error: kind usage.
Expected<double> parse_part(std::string_view text);
/// "1.50 s", "200 ms", "3.2 us", "45 ns".
std::string to_text(Nanoseconds time);

// The --size option of every benchmark.

/// Reads a list of sizes. "512" (bare numbers are whole MiB), "48KiB", "1-2048" and "32KiB-2GiB"
/// (the powers of two within, ends included), "a,b,c" (as written, in order, duplicates dropped).
/// A range inside a list is an error, as is a range that holds no power of two. Errors name --size.
Expected<std::vector<Bytes>> parse_sizes(std::string_view text);

/// "1MiB", "48KiB": without the space, for column heads.
std::string compact_text(Bytes bytes);

}  // namespace numatlas

// Whole numbers on command lines.
#pragma once

#include <charconv>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"

namespace numatlas {

/// The number that all of `text` is, in [low, high]; an error (usage) about `option` otherwise.
template <class T>
Expected<T> parse_whole(const std::string& text, T low, T high, const std::string& option) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size() && value >= low && value <= high)
    return value;
  return fail_usage(option,
                    fmt::format("'{}' is not a whole number from {} to {}", text, low, high));
}

}  // namespace numatlas

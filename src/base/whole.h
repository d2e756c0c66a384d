// Whole numbers on command lines.
#pragma once

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace numatlas {

/// The number that all of `text` is, in [low, high]; an error (usage) about `option` otherwise.
template <class T>
Expected<T> parse_whole(const std::string& text, T low, T high, const std::string& option) {
  const auto value = whole_number<T>(text);
  if (value && *value >= low && *value <= high) return *value;
  return fail_usage(option,
                    fmt::format("'{}' is not a whole number from {} to {}", text, low, high));
}

}  // namespace numatlas

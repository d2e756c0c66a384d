// Numbers of things in words.
#pragma once

#include <concepts>
#include <string>

#include <fmt/format.h>

namespace numatlas {

/// "1 CPU", "2 CPUs"; `many` where that is not the word with an s.
template <std::integral Count>
std::string count_text(Count count, const std::string& one, const std::string& many = "") {
  return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace numatlas

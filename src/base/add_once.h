// Lists that hold each value once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace numatlas {

/// Adds what the list does not hold yet; the index of it.
template <class T>
std::size_t add_once(std::vector<T>& list, T value) {
  const auto found = std::ranges::find(list, value);
  const auto index = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.push_back(std::move(value));
  return index;
}

}  // namespace numatlas

// Test helpers: where each page of a range lies, and where it has to.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "placement/kernel_calls.h"
#include "placement/weighted.h"

namespace numatlas::testing {

/// Node of each page from the first, in order (at most `limit` pages). -ENOENT for an untouched
/// page, another negative errno where the kernel cannot tell; empty when move_pages is refused.
inline std::vector<int> page_nodes(const void* start, std::size_t bytes, std::size_t page_size,
                                   std::size_t limit) {
  const std::size_t count = std::min((bytes + page_size - 1) / page_size, limit);
  std::vector<void*> pages;
  for (std::size_t i = 0; i < count; ++i)
    pages.push_back(static_cast<std::byte*>(const_cast<void*>(start)) + i * page_size);
  std::vector<int> nodes(count, -EFAULT);
  const bool told =
      kernel::calls().move_pages(0, count, pages.data(), nullptr, nodes.data(), 0) == 0;
  return told ? nodes : std::vector<int>{};
}

/// Node of the page with this number in a weighted range.
inline NodeId weighted_pattern(std::size_t page_index, WeightedNodes nodes) {
  std::sort(nodes.begin(), nodes.end());
  std::vector<NodeId> period;
  for (const auto& [node, weight] : nodes)
    period.insert(period.end(), static_cast<std::size_t>(weight), node);
  return period[page_index % period.size()];
}

}  // namespace numatlas::testing

#include "placement/weighted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "machine/interleave_weights.h"
#include "placement/kernel_calls.h"
#include "placement/touch.h"

namespace numatlas {
namespace {

WeightedNodes ascending(WeightedNodes nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::size_t weight_sum(const WeightedNodes& nodes) {
  std::size_t sum = 0;
  for (const auto& [node, weight] : nodes) sum += static_cast<std::size_t>(weight);
  return sum;
}

/// Brings pages into being. The call reports an empty pool of huge pages as an error where a plain
/// touch would end in SIGBUS; for a node without base pages the kernel may call its OOM killer
/// either way, so what does not fit has to be found out before (check_fits). Every base page is
/// touched: if a huge page was not to be had, the rest of its place must not be left to a later
/// fault. 0, or the errno.
int touch(std::byte* start, std::size_t bytes) {
  errno = 0;
  const std::size_t done = populate(start, bytes);
  if (errno != 0 && errno != EINVAL) return errno;
  touch_pages(start + done, bytes - done);  // where the kernel has no such call
  return 0;
}

/// Touches the runs of one node; the thread's policy binds to it meanwhile. The first run begins at
/// `first`, which may lie before the range. 0, or the errno.
int touch_runs(std::byte* start, std::ptrdiff_t bytes, std::ptrdiff_t period_bytes,
               std::ptrdiff_t first, std::ptrdiff_t run_bytes) {
  for (std::ptrdiff_t at = first; at < bytes; at += period_bytes) {
    const std::ptrdiff_t low = std::max<std::ptrdiff_t>(at, 0);
    const std::ptrdiff_t high = std::min(at + run_bytes, bytes);
    if (low >= high) continue;
    const int error = touch(start + low, static_cast<std::size_t>(high - low));
    if (error != 0) return error;
  }
  return 0;
}

Error populate_error(int error, NodeId node, std::size_t bytes) {
  if (error == ENOMEM || error == EFAULT || error == EHWPOISON) {
    return Error{ErrorKind::resource,
                 fmt::format("node {} has no room for its share of {}: {}", node.value,
                             to_rounded_text(Bytes{bytes}), errno_text(error)),
                 "", "--memory", "use a smaller --size or another --memory"};
  }
  return Error{ErrorKind::internal,
               fmt::format("madvise(MADV_POPULATE_WRITE) failed: {}", errno_text(error)), ""};
}

}  // namespace

std::vector<std::size_t> weighted_counts(std::size_t pages, const WeightedNodes& nodes) {
  std::vector<std::size_t> counts;
  const std::size_t period = weight_sum(nodes);
  for (const auto& [node, weight] : nodes) {
    std::size_t before = 0;
    for (const auto& [other, other_weight] : nodes) {
      if (other < node) before += static_cast<std::size_t>(other_weight);
    }
    const std::size_t rest = pages % period;
    const std::size_t tail = rest > before ? rest - before : 0;
    const auto run = static_cast<std::size_t>(weight);
    counts.push_back(pages / period * run + std::min(tail, run));
  }
  return counts;
}

std::optional<std::string> weights_differ(const WeightedNodes& nodes) {
  // Equal proportions are not enough: the kernel takes the weights as lengths of runs, so 2,2
  // gives another pattern than 1,1.
  for (const auto& [node, weight] : nodes) {
    const auto actual = kernel::system_weight(node);
    if (!actual) {
      return fmt::format("{}node{} cannot be read", interleave_weight_folder, node.value);
    }
    if (*actual != weight) {
      return fmt::format("the system-wide weight of node {} is {}, not {}", node.value, *actual,
                         weight);
    }
  }
  return std::nullopt;
}

Expected<void> populate_weighted(void* address, std::size_t bytes, std::size_t page_size,
                                 const WeightedNodes& nodes, std::size_t first_page) {
  const MemoryPlacement placement{MemoryMode::weighted, nodes};
  const auto saved = kernel::task_policy();
  if (!saved) return fail(policy_error(errno, "get_mempolicy", placement));
  // The thread's policy counts only where the range has none of its own.
  if (const int error = kernel::bind_range(address, bytes, kernel::mpol_default, {}); error != 0) {
    return fail(policy_error(error, "mbind", placement));
  }
  const std::size_t period = weight_sum(nodes);
  const auto in_bytes = [&](std::size_t pages) {
    return static_cast<std::ptrdiff_t>(pages * page_size);
  };
  auto* start = static_cast<std::byte*>(address);
  std::ptrdiff_t offset = -in_bytes(first_page % period);
  std::optional<Error> failed;
  // Node by node over the whole range: one change of policy a node and not one a run.
  for (const auto& [node, weight] : ascending(nodes)) {
    const std::ptrdiff_t run = in_bytes(static_cast<std::size_t>(weight));
    const auto mask = kernel::to_mask(NodeSet{node});
    if (const int error = kernel::set_task_policy(kernel::mpol_bind, mask); error != 0) {
      failed = policy_error(error, "set_mempolicy", placement);
      break;
    }
    if (const int error =
            touch_runs(start, static_cast<std::ptrdiff_t>(bytes), in_bytes(period), offset, run);
        error != 0) {
      failed = populate_error(error, node, bytes);
      break;
    }
    offset += run;
  }
  const int restored = kernel::set_task_policy(saved->mode, saved->mask);
  if (failed) return fail(*failed);
  if (restored != 0) return fail(policy_error(restored, "set_mempolicy", placement));
  const int error =
      kernel::bind_range(address, bytes, kernel::mpol_interleave, placement.node_set());
  if (error != 0) return fail(policy_error(error, "mbind", placement));
  return {};
}

}  // namespace numatlas

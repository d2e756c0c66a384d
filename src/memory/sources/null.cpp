// The null engine's memory: none. It reports as if every placement were met, so that the real
// program's output is the same on every machine.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "memory/pools.h"
#include "memory/source.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

/// Page sizes of the pretended machine: the same wherever the tests run.
constexpr std::uint64_t null_base_page = 4 * kib;

void put_all_on(NodeId node, Residency& seen) {
  if (node.value >= 0) {
    seen.pages_by_node[node.value] = seen.pages_total;
  } else {
    seen.problem = "the null source was not told its node";
  }
}

Residency pretended_residency(const Region& region) {
  const bool huge = is_from_pool(region.pages);
  const std::uint64_t page = huge ? huge_page_size(region.pages).value : null_base_page;
  Residency seen;
  seen.page_size = Bytes{page};
  seen.thp_fraction = region.pages == PageKind::thp ? 1.0 : 0.0;
  seen.pages_total = pages_for(region.bytes.value, page);
  seen.pages_asked = seen.pages_total;
  const auto& nodes = region.placement.nodes;
  switch (region.placement.mode) {
    case MemoryMode::inherit:
    case MemoryMode::local: put_all_on(region.local_node, seen); break;
    case MemoryMode::bind:
    case MemoryMode::prefer:
      put_all_on(nodes.empty() ? NodeId{} : nodes.front().first, seen);
      break;
    case MemoryMode::interleave:
    case MemoryMode::weighted: {
      const auto counts = weighted_counts(seen.pages_total, nodes);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) seen.pages_by_node[nodes[i].first.value] = counts[i];
      }
      break;
    }
  }
  return seen;
}

Expected<std::unique_ptr<Buffer>> make_null(const Region& region) {
  return std::make_unique<Buffer>(nullptr, region.bytes.value, PolicyOutcome{"none", ""},
                                  Buffer::Functions{.residency = [region](const ProcessMappings&) {
                                    return pretended_residency(region);
                                  }});
}

}  // namespace

MemorySource null_source() {
  return {.word = "null",
          .takes_pages = true,
          .on_host = false,
          .make = make_null,
          .on_device = [](const MemoryPlacement&) { return false; }};
}

}  // namespace numatlas

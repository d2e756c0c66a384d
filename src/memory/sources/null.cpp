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

class NullBuffer final : public Buffer {
 public:
  explicit NullBuffer(const Region& region) : region_(region), policy_{"none", ""} {}

  std::byte* data() const override { return nullptr; }
  std::size_t bytes() const override { return region_.bytes.value; }
  const PolicyOutcome& policy() const override { return policy_; }

  Residency residency(const ProcessMappings&) const override {
    const bool huge = is_from_pool(region_.pages);
    const std::uint64_t page = huge ? huge_page_size(region_.pages).value : null_base_page;
    Residency seen;
    seen.page_size = Bytes{page};
    seen.thp_fraction = region_.pages == PageKind::thp ? 1.0 : 0.0;
    seen.pages_total = pages_for(region_.bytes.value, page);
    seen.pages_asked = seen.pages_total;
    const MemoryPlacement& placement = region_.placement;
    const auto& nodes = placement.nodes;
    switch (placement.mode) {
      case MemoryMode::inherit:
      case MemoryMode::local: all_on(region_.local_node, seen); break;
      case MemoryMode::bind:
      case MemoryMode::prefer: all_on(nodes.empty() ? NodeId{} : nodes.front().first, seen); break;
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

 private:
  static void all_on(NodeId node, Residency& seen) {
    if (node.value >= 0) {
      seen.pages_by_node[node.value] = seen.pages_total;
    } else {
      seen.problem = "the null source was not told its node";
    }
  }

  Region region_;
  PolicyOutcome policy_;
};

class NullSource final : public MemorySource {
 public:
  std::string word() const override { return "null"; }
  Expected<std::unique_ptr<Buffer>> make(const Region& region) const override {
    return std::make_unique<NullBuffer>(region);
  }
  bool is_option() const override { return false; }
  bool takes_pages() const override { return true; }
  bool on_device(const MemoryPlacement&) const override { return false; }
  bool on_host() const override { return false; }
};

}  // namespace

const MemorySource& null_source() {
  static const NullSource source;
  return source;
}

}  // namespace numatlas

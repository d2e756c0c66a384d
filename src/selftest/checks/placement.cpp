// Memory that is bound to a node lies there: asked from the kernel page by page.
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "memory/buffer.h"
#include "placement/residency.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

constexpr Bytes placement_memory{1 << 20};

class PlacementCheck final : public Check {
 public:
  std::string name() const override { return "placement"; }
  std::string summary() const override {
    return "memory bound to each node lies there, page by page";
  }
  bool is_quick() const override { return true; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult PlacementCheck::run(const CheckInput& input) const {
  const NodeSet nodes = input.machine.ordinary_memory_nodes();
  if (nodes.empty()) return skipped("the kernel shows no NUMA nodes");
  for (const NodeId node : nodes) {
    const auto memory = allocate({placement_memory, {MemoryMode::bind, {{node, 1}}}});
    if (!memory && memory.error().kind == ErrorKind::permission)
      return skipped(with_hint(full_text(memory.error()), memory.error()));
    if (!memory) return failed(full_text(memory.error()), memory.error().hint);
    std::memset((*memory)->data(), 1, (*memory)->bytes());
    const Residency seen = (*memory)->residency();
    if (!seen.problem.empty()) return skipped("cannot be observed: " + seen.problem);
    const double there = seen.fraction_on({node}).value_or(0);
    if (there < 1)
      return failed(fmt::format("only {:.0f} % of {} bound to node {} lie there", there * 100,
                                to_rounded_text(placement_memory), node.value),
                    "see numactl --hardware for free memory, and whether NUMA balancing or a "
                    "policy of the container moves pages");
  }
  return passed(fmt::format("obeyed and observed on node{} {}", nodes.size() == 1 ? "" : "s",
                            to_list(nodes)));
}

}  // namespace

std::unique_ptr<Check> make_placement_check() { return std::make_unique<PlacementCheck>(); }

}  // namespace numatlas

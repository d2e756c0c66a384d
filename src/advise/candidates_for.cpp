// What can be proposed on this machine, as its kernel and its policy are now.
#include <string>
#include <vector>

#include "advise/advise.h"
#include "placement/kernel_calls.h"
#include "placement/policy.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

std::string weights_problem(const MemoryPlacement& memory) {
  if (!kernel_has_weighted_interleave())
    return "this kernel has no weighted interleave (Linux 6.9)";
  if (const auto differ = weights_differ(memory.nodes))
    return *differ + "; `numatlas weights` finds the best and prints how to set them";
  return "";
}

}  // namespace

std::vector<Candidate> candidates_for(const AdviseOptions& options, const Machine& machine,
                                      const ProgramTraits& traits) {
  const Atlas* atlas = options.atlas ? &*options.atlas : nullptr;
  ProposalInput input{machine, traits, atlas, options.axes, false, {}};
  if (machine.is_live()) {
    input.weights_problem = weights_problem;
    input.kernel_weight = kernel::system_weight;
    input.has_policy = inherited_policy().has_value();
  }
  return propose(input);
}

}  // namespace numatlas

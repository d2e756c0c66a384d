#include "advise/candidates.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace numatlas {

const char* name_of(Aspect axis) {
  switch (axis) {
    case Aspect::none: return "none";
    case Aspect::memory: return "memory";
    case Aspect::weights: return "weights";
    case Aspect::pages: return "pages";
    case Aspect::cpus: return "cpus";
    case Aspect::threads: return "threads";
  }
  return "";
}

Candidate no_candidate(std::string name, Aspect axis, std::string reason) {
  Candidate one;
  one.name = std::move(name);
  one.axis = axis;
  one.not_tried = std::move(reason);
  return one;
}

std::vector<Candidate> propose(const ProposalInput& input) {
  const auto wants = [&](Aspect axis) { return input.axes.contains(axis); };
  std::vector<Candidate> all;
  all.push_back({"as it is", Aspect::none, {}, "baseline for the other candidates", ""});
  const auto add = [&](std::vector<Candidate> some) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  };
  if (wants(Aspect::memory)) add(propose_memory(input));
  if (wants(Aspect::weights)) add(propose_weights(input));
  if (wants(Aspect::pages)) add(propose_pages(input));
  if (wants(Aspect::cpus)) add(propose_cpus(input));
  if (wants(Aspect::threads)) add(propose_threads(input));
  const auto last = std::stable_partition(
      all.begin(), all.end(), [](const Candidate& one) { return one.not_tried.empty(); });
  std::stable_sort(all.begin(), last,
                   [](const Candidate& a, const Candidate& b) { return a.prospect < b.prospect; });
  return all;
}

}  // namespace numatlas

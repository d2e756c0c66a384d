#include "advise/candidates.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace numatlas {

const char* name_of(Axis axis) {
  switch (axis) {
    case Axis::none: return "none";
    case Axis::memory: return "memory";
    case Axis::weights: return "weights";
    case Axis::pages: return "pages";
    case Axis::cpus: return "cpus";
    case Axis::threads: return "threads";
  }
  return "";
}

Candidate no_candidate(std::string name, Axis axis, std::string reason) {
  Candidate one;
  one.name = std::move(name);
  one.axis = axis;
  one.not_tried = std::move(reason);
  return one;
}

std::vector<Candidate> propose(const ProposalInput& input) {
  const auto wants = [&](Axis axis) { return input.axes.contains(axis); };
  std::vector<Candidate> all;
  all.push_back({"as it is", Axis::none, {}, "baseline for the other candidates", ""});
  const auto add = [&](std::vector<Candidate> some) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  };
  if (wants(Axis::memory)) add(propose_memory(input));
  if (wants(Axis::weights)) add(propose_weights(input));
  if (wants(Axis::pages)) add(propose_pages(input));
  if (wants(Axis::cpus)) add(propose_cpus(input));
  if (wants(Axis::threads)) add(propose_threads(input));
  const auto last = std::stable_partition(
      all.begin(), all.end(), [](const Candidate& one) { return one.not_tried.empty(); });
  std::stable_sort(all.begin(), last,
                   [](const Candidate& a, const Candidate& b) { return a.prospect < b.prospect; });
  return all;
}

}  // namespace numatlas

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
    case Axis::ranks: return "ranks";
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
  const bool launched = input.program.ranks > 0;
  const auto wants = [&](Axis axis) { return input.axes.contains(axis); };
  std::vector<Candidate> all;
  all.push_back({"as it is", Axis::none, {}, {}, "baseline for the other candidates", ""});
  const auto add = [&](std::vector<Candidate> some) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  };
  // Where ranks share a host, its memory and CPUs are theirs by rank.
  if (launched && (wants(Axis::memory) || wants(Axis::cpus))) add(propose_ranks(input));
  if (!launched && input.program.mpi)
    add({no_candidate("ranks", Axis::ranks,
                      "an MPI program without --launcher is a single rank, unless it starts "
                      "others itself; `--launcher mpirun --ranks N` tries layouts of its ranks")});
  if (!launched && wants(Axis::memory)) add(propose_memory(input));
  if (!launched && wants(Axis::weights)) add(propose_weights(input));
  if (launched && wants(Axis::weights))
    add({no_candidate("weighted", Axis::weights,
                      "under a launcher memory is laid out by rank, without weights")});
  if (wants(Axis::pages)) add(propose_pages(input));
  if (!launched && wants(Axis::cpus)) add(propose_cpus(input));
  if (wants(Axis::threads)) add(propose_threads(input));
  const auto last = std::stable_partition(
      all.begin(), all.end(), [](const Candidate& one) { return one.not_tried.empty(); });
  std::stable_sort(all.begin(), last,
                   [](const Candidate& a, const Candidate& b) { return a.prospect < b.prospect; });
  return all;
}

}  // namespace numatlas

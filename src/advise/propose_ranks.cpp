// Layouts of the ranks of a launcher on this host.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/candidates.h"

namespace numatlas {
namespace {

/// One rank's CPUs after the other's, as `numatlas exec --cpus LIST/LIST/...` has them.
std::string lists_of(const std::vector<CpuSet>& ranks) {
  std::string text;
  for (const CpuSet& cpus : ranks) text += (text.empty() ? "" : "/") + to_list(cpus);
  return text;
}

/// So many consecutive CPUs of an order for each rank.
std::vector<CpuSet> in_stretches(const std::vector<CpuId>& order, std::size_t ranks,
                                 std::size_t each) {
  std::vector<CpuSet> all(ranks);
  for (std::size_t i = 0; i < each * ranks; ++i) all[i / each].insert(order[i]);
  return all;
}

std::string nodes_of_ranks(const Machine& machine, const std::vector<CpuSet>& ranks) {
  std::string text;
  for (const CpuSet& cpus : ranks) {
    const NodeSet near = machine.nodes_of(cpus) & machine.ordinary_memory_nodes();
    if (near.empty()) return "";
    text += fmt::format("{}{}", text.empty() ? "each:" : ",", near.front().value);
  }
  return text;
}

Candidate of_ranks(const ProposalInput& input, std::string name, const std::vector<CpuSet>& ranks,
                   bool bind_memory, Prospect prospect, std::string because) {
  Candidate one;
  one.axis = Axis::ranks;
  one.name = std::move(name);
  one.rank_options = {"--cpus", lists_of(ranks)};
  const std::string nodes = nodes_of_ranks(input.machine, ranks);
  if (bind_memory && !nodes.empty())
    one.rank_options.insert(one.rank_options.end(), {"--memory", nodes});
  one.prospect = prospect;
  one.because = std::move(because);
  return one;
}

}  // namespace

std::vector<Candidate> propose_ranks(const ProposalInput& input) {
  const CpuSet usable = input.machine.usable_cpus();
  const auto ranks = static_cast<std::size_t>(input.program.ranks);
  if (ranks > usable.size())
    return {no_candidate("ranks", Axis::ranks,
                         fmt::format("{} ranks share {} CPUs", ranks, usable.size()))};
  const bool nodes = input.machine.ordinary_memory_nodes().size() > 1;
  // All CPUs are dealt out: neighbours to one rank, which then shares caches with itself alone.
  const auto packed = packed_order(input.machine), spread = spread_order(input.machine);
  const auto in_order = in_stretches(packed, ranks, usable.size() / ranks);
  std::vector<Candidate> all;
  all.push_back(of_ranks(input, "ranks in order", in_order, false, Prospect::best_node,
                         "each rank has its own, adjacent CPUs"));
  if (nodes)
    all.push_back(of_ranks(input, "ranks in order, with bound memory", in_order, true,
                           Prospect::best_node, "each rank's memory on the node of its CPUs"));
  // One CPU a rank, as far apart as possible: for ranks of one thread.
  const auto apart = in_stretches(spread, ranks, 1), close = in_stretches(packed, ranks, 1);
  if (ranks < usable.size()) {
    all.push_back(of_ranks(input, "ranks spread", apart, nodes, Prospect::cpus,
                           "a core and cache for each rank"));
    if (close != apart)
      all.push_back(
          of_ranks(input, "ranks packed", close, nodes, Prospect::cpus, "the ranks share caches"));
  }
  return all;
}

}  // namespace numatlas

// Where the memory may lie: nodes, tiers, interleaved.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/candidates.h"
#include "advise/candidates_nodes.h"

namespace numatlas {
namespace {

/// All of it on one node: `bind`, or `prefer` where it has more memory than fits.
Candidate on_node(const ProposalInput& input, const NodeFit& fit, MemoryMode mode,
                  Prospect prospect) {
  const bool prefers = mode == MemoryMode::prefer;
  Candidate one;
  one.axis = Aspect::memory;
  one.name = fmt::format("node {}{}", fit.node->id.value, prefers ? ", preferred" : "");
  one.layout.cpus = fit.cpus;
  one.layout.memory = placement_on(mode, {fit.node});
  one.prospect = prospect;
  one.because = memory_text(input.atlas, input.machine, fit.node->id, fit.node->id);
  if (one.because.empty()) one.because = "its CPUs and its memory on one node";
  if (prefers) one.because += "; the rest on other nodes";
  return one;
}

/// The best node, then the others likewise.
std::vector<Candidate> on_nodes(const ProposalInput& input) {
  const std::vector<NodeFit> fits = node_fits(input);
  if (fits.size() < 2) return {};
  if (!fits.front().too_many_threads.empty()) {  // for that node, so for all of them
    const auto fewer = [](const NodeFit& a, const NodeFit& b) {
      return a.cpus.size() < b.cpus.size();
    };
    return {no_candidate(
        "one node", Aspect::memory,
        fmt::format("{} threads, but no node has more than {} CPUs", *input.program.threads,
                    std::max_element(fits.begin(), fits.end(), fewer)->cpus.size()))};
  }
  std::vector<Candidate> all;
  for (const NodeFit& fit : fits) {
    const Prospect prospect = all.empty() ? Prospect::best_node : Prospect::other_node;
    all.push_back(on_node(input, fit, MemoryMode::bind, prospect));
    all.back().not_tried = fit.too_many_threads.empty() ? fit.no_room : fit.too_many_threads;
    if (fit.too_many_threads.empty() && !fit.no_room.empty())
      all.push_back(on_node(input, fit, MemoryMode::prefer, prospect));
  }
  return all;
}

std::vector<Candidate> of_tier(const ProposalInput& input, const NodeList& nodes,
                               const NodeList& near) {
  std::vector<Candidate> all;
  for (const MemoryMode mode : {MemoryMode::bind, MemoryMode::prefer}) {
    Candidate one;
    one.axis = Aspect::memory;
    one.layout.memory = placement_on(mode, nodes);
    one.name = one.layout.memory->text();
    one.prospect = Prospect::tier;
    const NodeId from = near.empty() ? nodes.front()->id : near.front()->id;
    one.because = memory_text(input.atlas, input.machine, from, nodes.front()->id);
    if (one.because.empty())
      one.because = fmt::format("memory of another kind{}",
                                nodes.front()->kind.empty() ? "" : ": " + nodes.front()->kind);
    if (mode == MemoryMode::bind) one.not_tried = room_problem(input.program, nodes);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<Candidate> propose_memory(const ProposalInput& input) {
  const NodeList nodes = memory_nodes(input.machine), near = near_nodes(input.machine);
  if (nodes.size() < 2) return {no_candidate("memory", Aspect::memory, "only one node has memory")};
  std::vector<Candidate> all = on_nodes(input);
  if (input.has_policy) {
    Candidate local;
    local.axis = Aspect::memory;
    local.name = "local";
    local.layout.memory = placement_on(MemoryMode::local, {});
    local.prospect = Prospect::best_node;
    local.because = "each page where it is first touched, instead of the current policy";
    all.push_back(std::move(local));
  }
  if (near.size() > 1) {
    Candidate one;
    one.axis = Aspect::memory;
    one.layout.memory = placement_on(MemoryMode::interleave, near);
    one.name = one.layout.memory->text();
    one.prospect = Prospect::interleave;
    one.because = "the bandwidth of all these nodes, whichever CPU touched a page first";
    all.push_back(std::move(one));
  }
  for (const NodeList& tier : far_tiers(input.machine))
    for (Candidate& one : of_tier(input, tier, near)) all.push_back(std::move(one));
  return all;
}

}  // namespace numatlas

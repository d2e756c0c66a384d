// Which ways to run a program are worth trying: pure, from the machine, what was seen of the
// program and what was measured before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/layout.h"
#include "base/error.h"
#include "machine/machine.h"
#include "record/view.h"

namespace numatlas {

/// What was measured of this machine before: the facts of a survey, or of any other result.
struct Atlas {
  std::string host;
  std::vector<Fact> facts;

  /// The first fact of that key that has all of these labels; nullptr where there is none.
  const Fact* find(const std::string& key,
                   const std::vector<std::pair<std::string, std::string>>& where = {}) const;
  /// Value of a fact; nullopt where there is none.
  std::optional<double> value(
      const std::string& key,
      const std::vector<std::pair<std::string, std::string>>& where = {}) const;
};

/// Reads a survey.json or a result. Errors name --atlas.
Expected<Atlas> read_atlas(const std::string& path);

/// Where there is no measurement: what the firmware claims, in words: "memory of node 2: 250 ns,
/// 40.0 GB/s (firmware)"; "" where it claims nothing.
std::string claim_text(const NumaNode& node);

/// What the atlas, else the firmware, says of memory of a node from CPUs of another; "" for
/// nothing.
std::string memory_text(const Atlas* atlas, const Machine& machine, NodeId cpu_node,
                        NodeId memory_node);

/// What a candidate changes.
enum class Aspect { none, memory, weights, pages, cpus, threads, load };
const char* name_of(Aspect axis);

/// Kinds of candidates, those with the most to be hoped of first: with little time the last are
/// left out.
enum class Prospect {
  baseline,
  best_node,
  huge_pages,
  interleave,
  weighted,
  tier,
  cpus,
  threads,
  base_pages,
  other_node,
};

/// What a point of a curve has (advise/curve.h).
struct CurvePoint {
  double load = 0;  ///< on its node's memory: part of what the load can do alone
  double far = 0;   ///< part of the program's pages that are on the second memory
};

struct Candidate {
  std::string name;  ///< "as it is", "bind:2", "thp"
  Aspect axis = Aspect::none;
  ProgramLayout layout;
  std::string because;    ///< the figure that speaks for it, or what it is tried for
  std::string not_tried;  ///< why it cannot be tried; "" where it can
  Prospect prospect = Prospect::baseline;
  std::optional<CurvePoint> curve = {};
};
/// What was asked for and gives no candidate, with the reason.
Candidate no_candidate(std::string name, Aspect axis, std::string reason);

/// What is known of a program.
struct ProgramTraits {
  std::optional<int> threads;
  std::optional<Bytes> memory;       ///< resident, at most
  std::optional<double> huge_share;  ///< of it, in huge pages
  bool openmp = false, gpu = false;
};

struct ProposalInput {
  const Machine& machine;
  ProgramTraits program;
  const Atlas* atlas = nullptr;
  std::set<Aspect> axes;
  bool has_policy = false;  ///< a memory policy is in force that the program would inherit
  /// Why the kernel's weighted interleave cannot have these weights now; "" where it can.
  std::function<std::string(const MemoryPlacement&)> weights_problem;
  /// A node's weight in the kernel's weighted interleave now; nullopt where the kernel has none.
  std::function<std::optional<int>(NodeId)> kernel_weight = {};
};

/// "As it is" first, then what can be tried, those with the most to be hoped of first, then what
/// cannot be tried, with the reason. An axis that was asked for has at least one of them.
std::vector<Candidate> propose(const ProposalInput& input);

// One axis each (propose calls them).
std::vector<Candidate> propose_memory(const ProposalInput& input);
std::vector<Candidate> propose_weights(const ProposalInput& input);
std::vector<Candidate> propose_pages(const ProposalInput& input);
std::vector<Candidate> propose_cpus(const ProposalInput& input);
std::vector<Candidate> propose_threads(const ProposalInput& input);

/// Usable CPUs, neighbours first: both threads of a core, then the next core of the same cache.
std::vector<CpuId> packed_order(const Machine& machine);
/// As far apart as possible: a core each, in turn over the last-level caches; second threads last.
std::vector<CpuId> spread_order(const Machine& machine);
/// So many from the front of an order.
CpuSet first_cpus(const std::vector<CpuId>& order, std::size_t count);

}  // namespace numatlas

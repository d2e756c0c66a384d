// How a program takes it that its node's memory is loaded by others, and that its pages lie on a
// second memory: the points of two curves, run in turn like candidates of a race.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/candidates.h"
#include "advise/look.h"
#include "advise/race.h"
#include "load/held_load.h"
#include "record/report.h"

namespace numatlas {

struct Curve {
  NodeId near;                ///< whose memory the program has, and the load
  std::optional<NodeId> far;  ///< the second memory; absent where there is none
  std::string far_text;       ///< "node 2 (CXL)"
  LoadRequest load;
  CpuSet program_cpus;
  double peak = 0;                            ///< of the load alone, in B/s
  std::vector<LoadWindow> windows;            ///< by candidate: what the load did beside its runs
  std::vector<std::optional<Look>> observed;  ///< by candidate: a run that was watched
};

/// Where the load is, by whose CPUs, and which CPUs are the program's in all runs. `look`: nullptr
/// where nothing is known of the program. Error (unavailable): there is no CPU for both.
Expected<Curve> plan_curve(const Machine& machine, const Look* look);

/// A program that chose CPUs of the load for itself, in a run that was watched.
std::optional<Warning> own_cpus_warning(const Curve& curve, const Look& look);

/// The program without a load, under loads, and with parts of its pages on the second memory; then
/// what cannot be run, with the reason. `weights_problem`: as ProposalInput has it.
std::vector<Candidate> curve_candidates(
    const Curve& curve, const Machine& machine, const ProgramTraits& program,
    const std::function<std::string(const MemoryPlacement&)>& weights_problem);

/// Whether it has so much memory that files that others brought there are a small part of it.
bool has_own_memory(const MemorySample& sample);

/// Part by which a logarithm of a cost ratio is worse: time lost, or metric lost.
double loss_of(double log, const Metric& metric);

/// "at most 3.1 % slower up to a load of 50 %, 12.3 % (11.0 to 13.6 %) slower under a load of 95 %;
/// 30.1 % (28.8 to 31.5 %) slower with all of its pages on node 2 (CXL)": what the intervals prove,
/// of the candidates that `race` has lanes for.
std::string curve_answer(const Curve& curve, const std::vector<Candidate>& candidates,
                         const RaceResult& race, const Metric& metric);

/// What a case of a candidate has beside its runs: the load reached, the part of its pages that is
/// on the second memory, and the slowdown.
void add_curve_figures(Case& one, const Curve& curve, std::size_t index, const Candidate& candidate,
                       const Lane& lane, const Metric& metric);
/// A table and picture for each curve; `runs`: the column of the runs themselves.
std::vector<View> curve_views(const Curve& curve, const ViewColumn& runs);
std::vector<Fact> curve_facts(const Curve& curve, const std::vector<Candidate>& candidates,
                              const RaceResult& race, const Metric& metric);

}  // namespace numatlas

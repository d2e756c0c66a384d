// How long a plan takes, before it is run: for sharing out time. Rough, and the same on all
// machines.
#pragma once

#include <vector>

#include "run/setup.h"

namespace numatlas {

/// What there is of the memory of a scenario when it begins, flow by flow as far as both have some:
/// the pages of the one before it, and where it does the same work (`contents`) also what they
/// hold.
struct MemoryBefore {
  const Scenario* scenario = nullptr;  ///< none: nothing
  bool contents = false;
};
/// Seconds to get the memory of a scenario ready: to touch it, to build and prove its chains, and
/// to warm up. Pure.
double preparation_of(const Scenario& scenario, const MemoryBefore& before = {});
/// Seconds of each visit beside its measuring, also to memory that is at hand: to check what the
/// kernels did. Pure.
double visiting_of(const Scenario& scenario);

/// The time of a run where none was given: what its option says, for all cases together 10 s at
/// most; more for many, so that each can have visits enough for an interval.
void choose_time(RunOptions& options, const Benchmark& benchmark, const Setup& setup);

/// Seconds that each case of a plan takes at least, with little time to record it, and with its
/// part of what is refined afterwards; 0 of those that are skipped, or that such a part is of.
/// Pure.
std::vector<double> least_times_of(const Benchmark& benchmark, const Setup& setup);

}  // namespace numatlas

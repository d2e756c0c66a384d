// How long a plan takes, before it is run: for sharing out time. Rough, and the same on all
// machines.
#pragma once

#include <vector>

#include "run/setup.h"

namespace numatlas {

/// Seconds to get the memory of a scenario ready: to touch it, and to build and prove its chains.
/// Pure.
double preparation_of(const Scenario& scenario);
/// Seconds of each visit beside its measuring, also to memory that is at hand: to warm up, and to
/// check what the kernels did. Pure.
double visiting_of(const Scenario& scenario);

/// The time of a run where none was given: what its option says, for all points together 10 s at
/// most; more for many, so that each can have visits enough for an interval.
void choose_time(RunOptions& options, const Benchmark& benchmark, const Setup& setup);

/// Seconds that each case of a plan takes at least, with little time to record it, and with its
/// part of what is refined afterwards; 0 of those that are skipped. Pure.
std::vector<double> least_times_of(const Benchmark& benchmark, const Setup& setup);

}  // namespace numatlas

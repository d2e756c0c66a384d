// Runs of different hosts as one: a file a host is judged like a file of all hosts. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Which of the runs belong together: 0 where no newer run has one of its hosts, else one more than
/// the newer runs that have one. Runs of different hosts are of one age whenever they were; those
/// of one host are a history. `runs` in the order of their starts; an age for each.
std::vector<std::size_t> ages_of(std::span<const RunReport* const> runs);

/// The hosts of runs of one age, in the order of their starts. Hosts are of one kind where they are
/// alike, whichever run they are of; a kernel is the same where its run asked for the same.
RunReport merged(std::span<const RunReport* const> runs);

/// A kernel with what its run asked for: what has to be the same to be compared.
FleetKernel asked_kernel(const RunReport& run, std::size_t kernel);

}  // namespace numatlas

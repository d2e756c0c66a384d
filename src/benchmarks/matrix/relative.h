// Cells of a matrix as multiples of the local one.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "benchmarks/extremes.h"
#include "record/report.h"

namespace numatlas {

/// Adds "times_local" to each cell, of each host: to the flow of a latency, to the sums of a
/// bandwidth. Local is the memory of the CPUs' own node; of CPUs whose node has none the best that
/// they reach.
void add_times_local(RunReport& report);

/// The cell that the others of these CPUs are compared with: their own node's memory, else the best
/// that they reach; nullptr where there is none. Cells have `cpus`, `memory` and `estimate`.
template <class Cells>
auto nearest_cell(const Cells& cells, const std::string& cpus, bool least) {
  const auto rank = [&](const auto& cell) {
    const double value = cell.memory == cpus ? std::numeric_limits<double>::infinity()
                         : least             ? -cell.estimate.value
                                             : cell.estimate.value;
    return cell.cpus == cpus ? std::optional(value) : std::nullopt;
  };
  return highest_of(cells, rank);
}

}  // namespace numatlas

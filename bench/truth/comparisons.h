// How often runs that do not differ are called different, and those that do are found.
#pragma once

#include <string>
#include <vector>

#include "analysis/rows.h"

namespace numatlas::truth {

/// A figure that was measured in so many visits, as a file of one launch has it.
Row row_of_visits(const std::vector<double>& visits, Unit unit);

/// Compares launches with planted values that often a row, prints the rows whose names contain
/// `only`, and says whether all hold their gates. `wide`: gates 5 percentage points wider.
bool run_comparisons(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth

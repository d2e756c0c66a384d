// Medians over hosts, of fleets whose hosts are drawn from a known distribution.
#pragma once

#include <string>

namespace numatlas::truth {

/// Counts how often the interval of a fleet's median encloses that of the distribution that its
/// hosts are drawn from, and prints it. Only rows whose name contains `only`. False where a row is
/// outside its gate. `wide`: gates 5 percentage points wider.
bool run_fleets(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth

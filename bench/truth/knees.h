// Knees of curves of latency under load, on memories whose curve is known.
#pragma once

#include <string>

namespace numatlas::truth {

/// Draws curves with the points and the visits that `loaded` has, and prints how often a knee is
/// told and how often its interval holds the true one. Only rows whose name contains `only`. False
/// where a row is outside its gate. `wide`: gates 5 percentage points wider.
bool run_knees(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth

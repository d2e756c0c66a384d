// Which answers `numatlas advise` gives, for programs whose times are known.
#pragma once

#include <string>

namespace numatlas::truth {

/// Races eight candidates on machines whose runs vary, and prints how often a gain is claimed where
/// there is none, how often a gain of 3 % is found, and how often what is left open ("none is
/// better within X %") excludes that gain. Only rows whose name contains `only`. False where a row
/// is outside its gate. `wide`: gates 5 percentage points wider.
bool run_races(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth

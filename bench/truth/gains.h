// What weights of interleaved memory gain, on machines where the gain is known.
#pragma once

#include <string>

namespace numatlas::truth {

/// Searches for weights on machines whose speed varies, as the command does, and prints how often
/// a gain is claimed and how often the interval holds the true one. Only rows whose name contains
/// `only`. False where a row is outside its gate. `wide`: gates 5 percentage points wider.
bool run_gains(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth

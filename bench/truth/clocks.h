// Offsets between the clocks of hosts that drift.
#pragma once

#include <string>

namespace numatlas::truth {

/// Runs of a minute on hosts whose clocks drift: prints how often the offset known at a start holds
/// the true one. Only rows whose name contains `only`. False where a row is outside its gate.
bool run_clocks(const std::string& only, int replicates);

}  // namespace numatlas::truth

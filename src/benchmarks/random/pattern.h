// --pattern: the indices of a gather or scatter, in the words of Spatter (Lavin et al., "Evaluating
// gather and scatter performance on CPUs and GPUs", MEMSYS 2020).
#pragma once

#include <string>

#include "base/error.h"
#include "kernels/random.h"

namespace numatlas::benchmark_random {

inline constexpr const char* pattern_forms =
    "uniform:N:STRIDE, ms1:N:BREAKS:GAPS, laplacian:D:L:SIZE or a file of indices";

/// A gather by such a pattern, or by the indices of the file of this name. Error (usage): names
/// --pattern, and the line of a file.
Expected<PatternParameters> parse_pattern(const std::string& text);

}  // namespace numatlas::benchmark_random

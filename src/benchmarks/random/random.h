// --pattern: the indices of a gather or scatter, in the words of Spatter (Lavin et al., "Evaluating
// gather and scatter performance on CPUs and GPUs", MEMSYS 2020).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/random.h"

namespace numatlas::benchmark_random {

inline constexpr const char* pattern_forms =
    "uniform:N:STRIDE, ms1:N:BREAKS:GAPS, laplacian:D:L:SIZE, indices 0,4,8 or a file";

struct NamedPattern {
  std::string name;              ///< as the report has it
  std::optional<Access> access;  ///< where a file of Spatter tells
  PatternParameters work;
};

/// Patterns by such a word, in which case does not count and a delta or NR (the pattern's length)
/// may come last, by a list of indices, or by the file of this name: indices, or the patterns of
/// Spatter's JSON. Error (usage): names --pattern, and the line of a file or its pattern.
Expected<std::vector<NamedPattern>> parse_patterns(const std::string& text);

}  // namespace numatlas::benchmark_random

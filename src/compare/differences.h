// What differs between the machines and the runs of two files, beside the figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/stored.h"

namespace numatlas {

struct Difference {
  std::string what;                      ///< "kernel", "microcode", "options of latency"
  std::string hosts;                     ///< whose; "" of all
  std::optional<std::string> base, now;  ///< absent: that file does not tell
  std::string warning;  ///< why the verdicts may say something else than one thinks
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Runs of the same command are compared, hosts in their order; several hosts that are compared
/// with themselves by their names.
std::vector<Difference> differences_of(const StoredFile& base, const StoredFile& now);

}  // namespace numatlas

// The matrix of hand-overs, and its summary by nearness.
#pragma once

#include <string>

#include "report/result.h"

namespace numatlas {

/// A matrix a method up to 32 CPUs, the summary by nearness, and what `notes_text` says.
std::string cores_table(const RunReport& report, bool stats);

}  // namespace numatlas

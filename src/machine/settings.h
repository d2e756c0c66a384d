// Settings of the system that disturb or shape measurements.
#pragma once

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// Fills `machine.settings`, each with its source and, where it disturbs, a warning; adds a note
/// for what this kernel does not have. The identity must be known already.
void read_settings(const Tree& tree, Machine& machine);

}  // namespace numatlas

// Which workers do a copy: those near what is copied from or to. Pure.
#pragma once

#include <string>
#include <vector>

#include "engine/layout.h"

namespace numatlas {

/// Where the CPUs of a copy are: --side.
enum class Side { from, to, any };

struct Team {
  std::vector<int> workers;  ///< indices into the layout
  std::string side;          ///< "from", "to", "nearest", "any": whose CPUs they were taken from
};

/// The workers on CPUs of the nodes asked for; where those have none (on some host), on CPUs of the
/// nodes of the other side; else the nearest to the side asked for, by the machine's distances. A
/// placement without nodes of its own (local) is everywhere. At most `threads` of each rank, in the
/// order of the layout.
Team team_for(const Layout& layout, const std::vector<Machine>& machines,
              const MemoryPlacement& from, const MemoryPlacement& to, Side side, int threads);

}  // namespace numatlas

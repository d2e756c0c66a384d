// Which memory sources this machine has, for people.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace numatlas {

/// One source: whether it can be had, and what of it, or why not and what to do.
struct SourceState {
  std::string name;
  bool available = false;
  std::string detail;
};
/// libpmem, memkind, DAX file systems and DAX devices of the live machine.
std::vector<SourceState> source_states(const Machine& machine);

}  // namespace numatlas

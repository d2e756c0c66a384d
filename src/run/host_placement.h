// Where the memory of all flows of a host lies, as observed, from what each of its ranks says.
#pragma once

#include <string>
#include <vector>

#include "engine/scenario.h"

namespace numatlas {

/// What one rank says of its flows, as JSON. Of large regions the kernel was asked for a sample of
/// the pages: their numbers are scaled to all of them. Pure.
std::string placement_of_rank(const std::vector<const Trace*>& traces);

/// "node 0: 1536 pages, node 1: 1536 pages (4 KiB)", and each warning once.
struct HostPlacement {
  std::string text;
  std::vector<Warning> warnings;
};
/// From what the ranks of a host say. Pure.
HostPlacement placement_of_host(const std::vector<std::string>& ranks);

}  // namespace numatlas

// What migration's figures say.
#pragma once

#include <vector>

#include "run/benchmark.h"

namespace numatlas {

/// Adds "reader_times" to the cases where a reader's pages are moved: how many times as long (or as
/// many bytes less) it takes than with the pages at rest, halfway between both nodes.
void compare_readers(RunReport& report);

std::vector<View> migrate_views(const RunReport& report);
std::vector<Fact> migrate_facts(const RunReport& report);

}  // namespace numatlas

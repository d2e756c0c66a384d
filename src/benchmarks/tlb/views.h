// How the reach of a TLB is concluded and shown.
#pragma once

#include <vector>

#include "record/report.h"

namespace numatlas {

/// Adds to every case with one line a page "packed_latency" (of as many packed lines) and
/// "tlb_miss_cost" (how much longer its loads take), in s.
void add_tlb_costs(RunReport& report);

/// One curve for each kind of pages, with the levels that it shows.
std::vector<View> tlb_views(const RunReport& report);

/// Reach in bytes and cost of a miss of each level, by kind of pages.
std::vector<Fact> tlb_facts(const RunReport& report);

}  // namespace numatlas

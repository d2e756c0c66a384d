// Test helper: the fleets of fleet/test_fleet.h, small.
#pragma once

#include "fleet/test_fleet.h"

namespace numatlas::testing {

/// Five even hosts.
inline Fleet fleet_report() { return even_fleet(5); }

}  // namespace numatlas::testing

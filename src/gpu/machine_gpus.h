// The GPUs of a machine, with what their drivers say of them.
#pragma once

#include "machine/machine.h"

namespace numatlas {

/// Asks the drivers of the live machine, and gives each GPU that one can use its index (`gpu:N`),
/// name and memory; a device that sysfs does not show is added. A recorded machine's that have no
/// index are numbered by their address. Error (unavailable): none can be used; says why.
Expected<void> add_devices(Machine& machine, bool live);

}  // namespace numatlas

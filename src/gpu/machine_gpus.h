// The GPUs of a machine, with what their drivers say of them.
#pragma once

#include <set>
#include <vector>

#include "machine/machine.h"

namespace numatlas {

/// Asks the drivers of the live machine, and gives each GPU that one can use its index (`gpu:N`),
/// name and memory; a device that sysfs does not show is added. A recorded machine's that have no
/// index are numbered by their address. Error (unavailable): none can be used; says why.
Expected<void> add_devices(Machine& machine, bool live);

/// GPU number `index` of a machine; nullptr where it has none.
const Gpu* find_gpu(const Machine& machine, int index);
/// The GPUs that can be used on some of these machines, ascending.
std::set<int> usable_gpus(const std::vector<Machine>& machines);

}  // namespace numatlas

// What memkind has on this machine.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// Kinds that memkind says are available here, without MEMKIND_. Error: the library is not there.
Expected<std::vector<std::string>> available_kinds();

}  // namespace numatlas

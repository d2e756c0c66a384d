// The name of this host.
#pragma once

#include <string>

namespace numatlas {

/// As gethostname says it; "localhost" if that fails.
std::string host_name();

}  // namespace numatlas

// Work on data that may end the process: libraries that check their input by assertions.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace numatlas {

struct ChildLimits {
  std::chrono::seconds time{60};
  Bytes memory{2 * gib};  ///< beyond what this process has already
};

/// What `work` returns, run in a child process: there it may crash, never end or take all memory.
/// It sees this process's memory as it is now, prints nothing, and starts no threads. Errors: kind
/// usage where the child came to no good end (the message tells how: "ended by signal 6
/// (Aborted)"), resource where there is no child to be had, interrupted after a stop.
Expected<std::string> in_child(const std::function<std::string()>& work,
                               const ChildLimits& limits = {});

}  // namespace numatlas

// What varies on a machine that does not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/units.h"

namespace numatlas {

/// A part of all loads takes so much longer, each by itself.
struct DelayNoise {
  double share = 0;
  Nanoseconds by{0};
};

struct Noise {
  double samples = 0;  ///< standard deviation of the logarithm of each sample's time; its mean is 1
  std::optional<DelayNoise> delays = {};
  std::uint64_t seed = 1;
  Nanoseconds rest{0};  ///< between a visit and the next
  /// When work that takes `work_ns` at full speed ends if it starts at `start_ns` of the virtual
  /// time. All flows of a run see the same machine.
  std::function<double(double start_ns, double work_ns)> end_of =
      [](double start_ns, double work_ns) { return start_ns + work_ns; };
};

}  // namespace numatlas

// Test helper: simulated machines whose speed changes.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/simulated/noise.h"

namespace numatlas::testing {

/// At full speed for `fast_ns`, at `low` of it for `slow_ns`, and so on.
inline Noise two_speeds(double fast_ns, double slow_ns, double low) {
  Noise noise;
  noise.end_of = [=](double now, double work_ns) {
    while (true) {
      const double phase = std::fmod(now, fast_ns + slow_ns);
      const bool fast = phase < fast_ns;
      const double speed = fast ? 1 : low;
      const double lasts = std::max(1.0, (fast ? fast_ns : fast_ns + slow_ns) - phase);
      if (lasts * speed >= work_ns) return now + work_ns / speed;
      work_ns -= lasts * speed;
      now += lasts;
    }
  };
  return noise;
}

}  // namespace numatlas::testing

#include "kernels/clock_rate.h"

#include <algorithm>
#include <chrono>

#include "placement/kept_cpus.h"

namespace numatlas {
namespace {

/// The compiler may neither join nor leave out additions to what this has touched.
inline void keep(unsigned long& value) { asm volatile("" : "+r"(value)); }

}  // namespace

double clock_rate() {
  constexpr int tries = 5, steps = 100'000, additions = 8;
  double most = 0;
  // Its value is not known when this is compiled, nor when it is decoded: recent processors carry
  // out several additions of a constant in one cycle.
  unsigned long value = 0, one = 1;
  keep(one);
  for (int i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) {
      for (int addition = 0; addition < additions; ++addition) {
        value += one;
        keep(value);
      }
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    most = std::max(most, steps * additions / spent.count());
  }
  return most;
}

std::optional<double> clock_rate_of(CpuId cpu) {
  const KeptCpus kept;
  if (!bind_thread({cpu})) return std::nullopt;
  return clock_rate();
}

}  // namespace numatlas

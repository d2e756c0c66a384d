// The clock of the CPU, as work shows it.
#pragma once

#include <optional>

#include "base/ids.h"

namespace numatlas {

/// Cycles a second at which the calling thread's CPU runs now: the rate of additions that each wait
/// for the one before, which every CPU of today does at one a cycle. Takes about 2 ms; a busy CPU
/// seems slower.
double clock_rate();

/// The same of another CPU, to which the calling thread is bound for that time; nullopt where it
/// may not run there.
std::optional<double> clock_rate_of(CpuId cpu);

}  // namespace numatlas

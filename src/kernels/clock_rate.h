// The clock of the CPU, as work shows it.
#pragma once

namespace numatlas {

/// Cycles a second at which the calling thread's CPU runs now: the rate of additions that each wait
/// for the one before, which every CPU of today does at one a cycle. Takes about 2 ms; a busy CPU
/// seems slower.
double clock_rate();

}  // namespace numatlas

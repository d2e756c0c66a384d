// How the time of a survey is shared out among its benchmarks. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace numatlas {

/// What each gets of `seconds`, by worth; nothing for those of no worth.
std::vector<double> shares_of(double seconds, const std::vector<double>& worths);

/// What the first of those that are left gets of the seconds that are left: what others did not
/// use comes to those after them, and what they took too long is taken from all of these. Never
/// less than a small part of a second: each measures something.
double next_share(double seconds_left, const std::vector<double>& worths_left);

/// What a benchmark gets whose way takes `least_time`, when `left` is its part of what is left:
/// where others took too long, still its least time, up to the share that was planned for it. So a
/// benchmark is not skipped because an earlier one was slow; the survey takes longer instead.
double kept_share(double left, double planned, double least_time);

/// Whether so little of the least time is left that the benchmark is skipped.
bool is_too_little(double share, double least_time);

/// The least --time for so many benchmarks.
double least_survey_time(std::size_t benchmarks);

}  // namespace numatlas

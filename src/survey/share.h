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

/// The first way whose least time is within the share, else the last. Precondition: there are some.
std::size_t way_within(double share, const std::vector<double>& least_times);

/// The least --time for so many benchmarks.
double least_survey_time(std::size_t benchmarks);

}  // namespace numatlas

#include "survey/share.h"

#include <algorithm>
#include <numeric>

namespace numatlas {
namespace {

// Below this not even the thinnest plans have a sample a point that says something.
constexpr double least_per_benchmark = 0.5;
constexpr double least_share = 0.1;
// The estimate is wrong by a factor now and then; with less than this part of it the time
// would not be kept at all.
constexpr double least_part = 0.25;

}  // namespace

std::vector<double> shares_of(double seconds, const std::vector<double>& worths) {
  const double all = std::accumulate(worths.begin(), worths.end(), 0.0);
  std::vector<double> shares;
  for (double worth : worths) shares.push_back(all > 0 ? seconds * worth / all : 0);
  return shares;
}

double next_share(double seconds_left, const std::vector<double>& worths_left) {
  if (worths_left.empty()) return 0;
  return std::max(least_share, shares_of(std::max(0.0, seconds_left), worths_left).front());
}

double kept_share(double left, double planned, double least_time) {
  return std::max(left, std::min(planned, least_time));
}

bool is_too_little(double share, double least_time) { return share < least_part * least_time; }

double least_survey_time(std::size_t benchmarks) {
  return least_per_benchmark * static_cast<double>(benchmarks);
}

}  // namespace numatlas

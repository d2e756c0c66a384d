#include "report/sum_interval.h"

#include <cmath>

namespace numatlas {

/// Student's t. Stretches are long against what disturbs a sample, so their mean is near enough to
/// normal.
std::optional<double> half_width_of_sum(const Metric& sum) {
  constexpr double t_19 = 2.093;  // 0.975 quantile for 20 stretches
  if (!sum.summary || !sum.value || !sum.summary->stddev || sum.summary->n != 20 ||
      !(*sum.value > 0)) {
    return std::nullopt;
  }
  return t_19 * *sum.summary->stddev / std::sqrt(20.0) / *sum.value;
}

}  // namespace numatlas

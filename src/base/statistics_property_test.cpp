#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace numatlas {
namespace {

/// Finite values of a sane size: a sum of a few thousand must not overflow.
std::vector<double> some_values() {
  auto values = *rc::gen::container<std::vector<double>>(rc::gen::map(
      rc::gen::inRange(-1'000'000'000, 1'000'000'000), [](int value) { return value / 1024.0; }));
  return values;
}

RC_GTEST_PROP(StatisticsProperty, OrderOfTheSamplesDoesNotMatter, ()) {
  const auto values = some_values();
  auto reversed = values;
  std::reverse(reversed.begin(), reversed.end());
  auto rotated = values;
  std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(values.size() / 3),
              rotated.end());
  RC_ASSERT(summarize(values) == summarize(reversed));
  RC_ASSERT(summarize(values) == summarize(rotated));
  RC_ASSERT(relative_half_width(values) == relative_half_width(rotated));
}

RC_GTEST_PROP(StatisticsProperty, FiguresStandInTheirOrder, ()) {
  const auto values = some_values();
  RC_PRE(!values.empty());
  const auto s = *summarize(values);
  RC_ASSERT(s.n == values.size());
  const double in_order[] = {s.min, s.p5, s.p25, s.median, s.p75, s.p95, s.p99, s.max};
  RC_ASSERT(std::is_sorted(std::begin(in_order), std::end(in_order)));
  RC_ASSERT(s.mad >= 0);
  RC_ASSERT(s.outliers <= s.n / 2);
  RC_ASSERT(s.ci_low.has_value() == (s.n > 5));
  if (s.ci_low) {
    RC_ASSERT(*s.ci_low <= s.median);
    RC_ASSERT(s.median <= *s.ci_high);
  }
}

RC_GTEST_PROP(StatisticsProperty, FiguresFollowAScale, ()) {
  const auto values = some_values();
  RC_PRE(values.size() > 5);
  auto doubled = values;
  for (double& value : doubled) value *= 2;  // exact in binary
  const auto s = *summarize(values);
  const auto d = *summarize(doubled);
  RC_ASSERT(d.median == 2 * s.median);
  RC_ASSERT(*d.ci_high == 2 * *s.ci_high);
  RC_ASSERT(d.mad == 2 * s.mad);
  RC_ASSERT(relative_half_width(values) == relative_half_width(doubled));
}

}  // namespace
}  // namespace numatlas

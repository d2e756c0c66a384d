#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "compare/compare.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

/// Of a value from 1 to 1000, with an interval round it.
Row any_row() {
  const double value = *rc::gen::inRange(1, 1000);
  const double below = *rc::gen::inRange(0, 100), above = *rc::gen::inRange(0, 100);
  Row row;
  row.figure = "m";
  row.unit = "s";
  row.estimate =
      testing::with_interval(value, value * (1 - below / 100), value * (1 + above / 100));
  return row;
}

std::vector<Row> any_cases(int count) {
  std::vector<Row> cases;
  for (int i = 0; i < count; ++i) {
    Row one = any_row();
    one.key = one.case_key = one.name = std::to_string(i);
    one.unit = i % 2 == 0 ? Unit("s") : Unit("B/s");
    cases.push_back(std::move(one));
  }
  return cases;
}

RC_GTEST_PROP(CompareProperty, SwappingTheSidesSwapsFasterAndSlower, ()) {
  const int count = *rc::gen::inRange(1, 10);
  const auto base = any_cases(count), now = any_cases(count);
  CompareRule rule;
  // The change itself is not symmetric (+25 % is -20 % from the other side); the intervals are.
  rule.min_effect = 0;
  const Comparison there = match_cases(base, now, rule), back = match_cases(now, base, rule);
  RC_ASSERT(there.count(CaseVerdict::faster) == back.count(CaseVerdict::slower));
  RC_ASSERT(there.count(CaseVerdict::slower) == back.count(CaseVerdict::faster));
}

RC_GTEST_PROP(CompareProperty, TheChangeLiesInItsInterval, ()) {
  CompareRule rule;
  rule.launch_spread = 0;
  Change change = change_between(any_row(), any_row(), rule);
  judge({&change}, rule);
  RC_ASSERT(*change.low <= *change.part + 1e-12);
  RC_ASSERT(*change.part <= *change.high + 1e-12);
  const bool judged =
      change.verdict == CaseVerdict::faster || change.verdict == CaseVerdict::slower;
  RC_ASSERT(!judged || *change.low > 0 || *change.high < 0);
}

}  // namespace
}  // namespace numatlas

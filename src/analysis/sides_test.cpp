#include "analysis/sides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using testing::with_interval;

Row known(double value, double low, double high) {
  Row row;
  row.unit = "s";
  row.estimate = with_interval(value, low, high);
  return row;
}

/// The rule of a side whose launches do not differ.
CompareRule exact() {
  CompareRule rule;
  rule.launch_spread = 0;
  return rule;
}

Change judged(Row base, Row now, Unit unit, const CompareRule& rule = exact()) {
  base.unit = now.unit = unit;
  Change change = change_between(base, now, rule);
  judge({&change}, rule);
  return change;
}

TEST(Verdict, NeedsBothTheIntervalAndTheEffect) {
  const Row base = known(100, 99, 101);
  const auto verdict = [&](const Row& now, Unit unit) { return judged(base, now, unit).verdict; };
  EXPECT_EQ(verdict(known(110, 109, 111), "s"), CaseVerdict::slower);
  EXPECT_EQ(verdict(known(110, 109, 111), "B/s"), CaseVerdict::faster);
  EXPECT_EQ(verdict(known(90, 89, 91), "s"), CaseVerdict::faster);
  EXPECT_EQ(verdict(known(110, 95, 125), "s"), CaseVerdict::not_distinguishable);
  EXPECT_EQ(verdict(known(101.9, 101.8, 102), "s"), CaseVerdict::not_distinguishable)
      << "less than 2 % itself, but perhaps more";
  EXPECT_EQ(verdict(known(100.5, 100, 101), "s"), CaseVerdict::same);
  CompareRule fine = exact();
  fine.min_effect = 0.01;
  EXPECT_EQ(judged(base, known(101.9, 101.8, 102), "s", fine).verdict, CaseVerdict::slower);
}

TEST(Verdict, SaysWhereAChangeAloneWouldCount) {
  // 3.0 standard errors: p is 0.0026, enough for one case and not for one of 41.
  const Row base = known(100, 99, 101), now = known(102.2, 101.178, 103.222);
  std::vector<Change> changes(40, change_between(base, base, exact()));
  changes.push_back(change_between(base, now, exact()));
  std::vector<Change*> all;
  for (Change& change : changes) all.push_back(&change);
  judge({all.back()}, exact());
  EXPECT_EQ(all.back()->verdict, CaseVerdict::slower);
  EXPECT_EQ(all.back()->chance_among, 0U);
  judge(all, exact());
  EXPECT_EQ(all.back()->verdict, CaseVerdict::not_distinguishable);
  EXPECT_EQ(all.back()->chance_among, 41U);
  EXPECT_EQ(all.front()->chance_among, 0U);
}

TEST(Verdict, OneLaunchDoesNotKnowTheNext) {
  const auto verdict = [](double now) {
    return judged(known(100, 99.99, 100.01), known(now, now - 0.01, now + 0.01), "s", {}).verdict;
  };
  // Two launches of 2 % deviation each: 5.5 % between them in one of twenty cases.
  EXPECT_EQ(verdict(100), CaseVerdict::not_distinguishable);
  EXPECT_EQ(verdict(105), CaseVerdict::not_distinguishable);
  EXPECT_EQ(verdict(106), CaseVerdict::slower);
}

TEST(Verdict, ChangeHasAnIntervalOfItsOwn) {
  // By hand: both standard errors 0.01 / 1.96 of the value, so 1.414 % on either side of 50 %.
  const Change change = judged(known(100, 99, 101), known(150, 148.5, 151.5), "s");
  EXPECT_DOUBLE_EQ(*change.part, 0.5);
  EXPECT_NEAR(std::log(1 + *change.low), std::log(1.5) - 0.01 * std::sqrt(2), 1e-9);
  EXPECT_NEAR(std::log(1 + *change.high), std::log(1.5) + 0.01 * std::sqrt(2), 1e-9);
  Row few = known(100, 99, 101);
  few.estimate->n = 5;
  few.estimate->method = Method::visits;
  // Welch has eight degrees of freedom: 2.306 of the error that 2.776 of four made.
  EXPECT_NEAR(*judged(few, few, "s").high, std::exp(0.01 * std::sqrt(2) * 2.306 / 2.776) - 1, 1e-5);
}

TEST(Verdict, OfPairsOnlyTheirRatiosCount) {
  Row base = known(100, 50, 150), now = base;
  base.launches = {60, 100, 140, 80, 120};
  now.launches = {63, 105.2, 146.8, 84, 126.1};
  CompareRule rule;
  rule.in_pairs = true;
  const Change change = judged(base, now, "s", rule);
  EXPECT_EQ(change.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*change.part, 0.05, 0.001);
  rule.in_pairs = false;
  EXPECT_EQ(judged(base, now, "s", rule).verdict, CaseVerdict::not_distinguishable);
}

TEST(Verdict, NothingIsSaidOfWhatIsNotKnown) {
  const Row base = known(100, 99, 101);
  const auto reason = [&](const Row& now) { return judged(base, now, "s").reason; };
  Row single;
  single.estimate = 50;
  EXPECT_THAT(reason(single), HasSubstr("NEW: its interval is not known"));
  single.problem = "skipped: x";
  EXPECT_THAT(reason(single), HasSubstr("NEW: skipped: x"));
  EXPECT_THAT(reason(known(0, 0, 0)), HasSubstr("NEW: is 0"));
  const Change of_none = judged(known(0, 0, 0), base, "s");
  EXPECT_THAT(of_none.reason, HasSubstr("BASE: is 0"));
  EXPECT_EQ(of_none.part, std::nullopt);
  EXPECT_EQ(of_none.verdict, CaseVerdict::not_comparable);
  EXPECT_THAT(judged(base, base, "B").reason, HasSubstr("'B'"));
}

TEST(Verdict, ValuesThatNothingMeasuresHaveNone) {
  Row base = known(100, 99, 101), now = base;
  base.launches = {100, 100, 100};
  now.launches = {100, 0, 100};
  CompareRule pairs;
  pairs.in_pairs = true;
  EXPECT_EQ(judged(base, now, "s", pairs).reason, "NEW: is 0 in one of its launches");
  const Row huge = known(1e308, 1e307, 1.7e308), tiny = known(1e-308, 1e-309, 1.5e-308);
  EXPECT_EQ(judged(tiny, huge, "s").verdict, CaseVerdict::not_comparable) << "1e616 times";
  Row open = known(100, 99, 101);
  open.estimate->high = std::numeric_limits<double>::infinity();
  EXPECT_THAT(judged(base, open, "s").reason, HasSubstr("not precise enough"));
}

TEST(Verdict, SaysThatOneSideWasDisturbed) {
  Row now = known(110, 109, 111);
  now.disturbed = "other programs used 1.0 of 2 CPUs";
  const Change change = judged(known(100, 99, 101), now, "s");
  EXPECT_EQ(change.verdict, CaseVerdict::not_distinguishable) << "of one launch";
  EXPECT_TRUE(change.explained);
  Row several = now;
  several.launches = {109, 110, 111};
  Row others = known(100, 99, 101);
  others.launches = {99, 100, 101};
  EXPECT_EQ(judged(others, several, "s").verdict, CaseVerdict::slower) << "of three launches";
  EXPECT_EQ(change.doubt, "NEW: other programs used 1.0 of 2 CPUs");
  EXPECT_THAT(judged(now, now, "s").doubt, HasSubstr("CPUs; NEW: other"));
  EXPECT_EQ(judged(known(1, 1, 1), known(1, 1, 1), "s").doubt, "");
}

TEST(Verdict, KnowsWhatEarlierLaunchesShow) {
  Row base = known(100, 99.9, 100.1), now = known(110, 109.9, 110.1);
  EXPECT_EQ(judged(base, now, "B/s").verdict, CaseVerdict::faster);
  base.launch_spread = now.launch_spread = Uncertain{0, 0.3 * 0.3, 9};
  EXPECT_EQ(judged(base, now, "B/s").verdict, CaseVerdict::not_distinguishable)
      << "launches differ by more";
  base.launch_spread = now.launch_spread = Uncertain{0, 0.001 * 0.001, 9};
  now.estimate = with_interval(102.5, 102.4, 102.6);
  EXPECT_EQ(judged(base, now, "B/s").verdict, CaseVerdict::faster) << "less than is assumed";
}

TEST(Verdict, OneLaunchOfAVirtualMachineNeedsMoreThanItself) {
  // CPUs that share a core in one launch and not in the next: 27 ns and 105 ns, each within 0.1 %.
  Row base = known(27, 26.97, 27.03), now = known(105, 104.9, 105.1);
  EXPECT_EQ(judged(base, now, "s", {}).verdict, CaseVerdict::slower);
  base.guest = now.guest = true;
  const Change change = judged(base, now, "s", {});
  EXPECT_EQ(change.verdict, CaseVerdict::not_distinguishable);
  EXPECT_TRUE(change.explained);
  EXPECT_THAT(change.doubt, HasSubstr("one run on a virtual machine"));
  EXPECT_EQ(judged(base, base, "s", {}).doubt, "") << "nothing is to be explained";
  EXPECT_EQ(judged(base, now, "s").verdict, CaseVerdict::slower) << "the user knows the launches";
  Row many_base = base, many = now;
  many_base.launches = {27, 27.1, 26.9};
  many.launches = {105, 104, 106};
  EXPECT_EQ(judged(many_base, many, "s", {}).verdict, CaseVerdict::slower) << "three launches";
  EXPECT_EQ(judged(base, many, "s", {}).verdict, CaseVerdict::not_distinguishable);
  base.launch_spread = now.launch_spread = Uncertain{0, 0.05 * 0.05, 9};
  EXPECT_EQ(judged(base, now, "s", {}).verdict, CaseVerdict::slower) << "earlier launches tell";
}

/// A case over its pilots: the ratio is known within 1 %.
Row with_pilot(double value, double relative) {
  Row figure = known(value, value * 0.99, value * 1.01);
  figure.relative = with_interval(relative, relative * 0.99, relative * 1.01, 10);
  return figure;
}

TEST(Verdict, RestsOnWhatThePilotsDoNotExplain) {
  Row base = with_pilot(100, 1);
  const Change mood = judged(base, with_pilot(180, 1.001), "B/s");
  EXPECT_EQ(mood.verdict, CaseVerdict::not_distinguishable);
  EXPECT_TRUE(mood.explained);
  EXPECT_THAT(mood.doubt, HasSubstr("the machine as a whole changed too (pilot: +79.8 %)"));
  EXPECT_NEAR(*mood.part, 0.8, 1e-9) << "absolute values stay as measured";
  EXPECT_NEAR(*mood.relative, 0.001, 1e-9);
  EXPECT_EQ(judged(base, with_pilot(120, 1.2), "B/s").verdict, CaseVerdict::faster);
  EXPECT_EQ(judged(base, with_pilot(80, 0.8), "B/s").verdict, CaseVerdict::slower);
  base.guest = true;
  EXPECT_EQ(judged(base, with_pilot(80, 0.8), "B/s", {}).verdict, CaseVerdict::slower);
  // A figure that does not follow the machine: the pilot alone changed.
  const Change steady = judged(base, with_pilot(100, 0.6), "B/s");
  EXPECT_EQ(steady.verdict, CaseVerdict::not_distinguishable);
  EXPECT_FALSE(steady.explained);
  EXPECT_EQ(judged(base, with_pilot(120, 0.8), "B/s").verdict, CaseVerdict::not_distinguishable)
      << "they disagree";
  EXPECT_EQ(judged(base, known(180, 179, 181), "B/s").verdict, CaseVerdict::faster)
      << "one side has no pilots";
}

TEST(FigureOfLaunches, IsTheirMeanWithStudentsInterval) {
  std::vector<Row> launches;
  for (const double value : {10.0, 11.0, 12.0}) launches.push_back(known(value, 0, 100));
  Row all = row_of_launches(launches);
  EXPECT_DOUBLE_EQ(all.estimate->value, 11);
  EXPECT_NEAR(*all.estimate->high - 11, 4.303 / std::sqrt(3), 1e-3);
  EXPECT_EQ(all.launches, (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(all.estimate->n, 3U);
  EXPECT_EQ(all.estimate->method, Method::visits);
  launches[1].problem = "failed";
  EXPECT_EQ(row_of_launches(launches).problem, "failed");
  launches[1].problem.clear();
  launches[0].observed.nodes = {{"0", 1.0}};
  launches[2].observed.nodes = {{"1", 1.0}};
  EXPECT_THAT(row_of_launches(launches).problem, HasSubstr("memory on node 0, now on 1"));
}

}  // namespace
}  // namespace numatlas

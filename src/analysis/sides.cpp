#include "analysis/sides.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/judge.h"
#include "record/figure.h"

namespace numatlas {
namespace {

constexpr const char* side_names[] = {"BASE", "NEW"};
constexpr double alpha = 0.05;

Uncertain difference_in_pairs(const Row& base, const Row& now) {
  std::vector<double> each;
  for (std::size_t i = 0; i < base.launches.size(); ++i)
    each.push_back(std::log(now.launches[i] / base.launches[i]));
  return mean_of(each);
}

/// Whether both are of one launch, with the same pilots.
bool have_pilots(const Row& base, const Row& now) {
  return base.launches.empty() && now.launches.empty() && base.relative && now.relative &&
         base.pilot == now.pilot;
}

Uncertain difference_of_sides(const Row& base, const Row& now, const CompareRule& rule) {
  // What differs from launch to launch with the speed of the machine, the pilots tell.
  const bool pilots = have_pilots(base, now);
  // Both sides are judged by the same hosts: as little is known of both as of one.
  Uncertain launches;
  for (const Row* side : {&base, &now}) {
    if (side->launches.size() > 1) continue;
    const auto& known = side->launch_spread;
    const double assumed = rule.launch_spread_taken();
    launches.variance += known && !pilots ? known->variance : assumed * assumed;
    if (known && !pilots) launches.freedom = std::min(launches.freedom, known->freedom);
  }
  const double unit = base.estimate->value;  // the difference of the logarithms is that of a ratio
  return sum_of({logarithm_of(*base.estimate, unit), logarithm_of(*now.estimate, unit), launches});
}

/// Sets interval and probability of a change from the logarithm of its size.
void set_change(Change& change, const Uncertain& difference) {
  const Interval interval = interval_of(difference, alpha);
  change.part = std::exp(difference.value) - 1;
  change.low = std::exp(interval.low) - 1;
  change.high = std::exp(interval.high) - 1;
  change.p = chance_of(difference);
}

bool is_measured(const Uncertain& difference) {
  return std::isfinite(difference.value) && std::isfinite(difference.variance);
}

/// By itself, among no others.
bool counts_alone(const Change& change, const CompareRule& rule) {
  return *change.p <= alpha && std::abs(*change.part) >= rule.min_effect;
}

void add_doubt(Change& change, const std::string& text) {
  change.doubt += (change.doubt.empty() ? "" : "; ") + text;
}

/// A change of one launch each holds only where the machine as a whole does not explain it.
void weigh_pilots(Change& change, const Estimate& base, const Estimate& now,
                  const CompareRule& rule) {
  if (!(base.value > 0) || !(now.value > 0)) return;
  const Uncertain launch{0, rule.launch_spread_taken() * rule.launch_spread_taken()};
  const Uncertain difference =
      sum_of({logarithm_of(base, base.value), logarithm_of(now, base.value), launch, launch});
  if (!is_measured(difference)) return;
  Change relative;
  set_change(relative, difference);
  const bool alone = counts_alone(change, rule);
  const bool agree = (*relative.part < 0) == (*change.part < 0) && counts_alone(relative, rule);
  change.relative = relative.part;
  change.p = agree ? std::max(*change.p, *relative.p) : 1;
  change.low = std::min(*change.low, *relative.low);
  change.high = std::max(*change.high, *relative.high);
  if (!alone || agree) return;
  change.explained = true;
  const double pilot = (1 + *change.part) / (1 + *relative.part) - 1;
  add_doubt(change,
            std::abs(pilot) >= rule.min_effect
                ? fmt::format("the machine as a whole changed too (pilot: {:+.1f} %)", pilot * 100)
                : "relative to the pilots it varies too much for a verdict");
}

/// Why one of two figures says nothing; "" where both do.
std::string problem_of(const Row& base, const Row& now) {
  if (!base.problem.empty() && base.problem == now.problem) return "both: " + base.problem;
  const Row* sides[] = {&base, &now};
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->problem.empty()) return fmt::format("{}: {}", side_names[i], sides[i]->problem);
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->estimate || !sides[i]->estimate->low)
      return fmt::format("{}: its interval is not known", side_names[i]);
  if (!(base.estimate->value > 0)) return "BASE: is 0";
  if (base.unit.better() == Better::neither)
    return fmt::format("unknown whether a higher '{}' is better", base.unit.symbol());
  return "";
}

/// Which side was disturbed, and by what.
std::string doubt_of(const Row& base, const Row& now) {
  std::vector<std::string> parts;
  const Row* sides[] = {&base, &now};
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->disturbed.empty())
      parts.push_back(fmt::format("{}: {}", side_names[i], sides[i]->disturbed));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

const char* name_of(CaseVerdict verdict) {
  switch (verdict) {
    case CaseVerdict::faster: return "faster";
    case CaseVerdict::slower: return "slower";
    case CaseVerdict::same: return "same";
    case CaseVerdict::not_distinguishable: return "not distinguishable";
    case CaseVerdict::not_comparable: return "not comparable";
  }
  return "not comparable";
}

Change change_between(const Row& base, const Row& now, const CompareRule& rule) {
  Change change;
  change.unit = base.unit;
  if (base.estimate && now.estimate && base.estimate->value > 0)
    change.part = now.estimate->value / base.estimate->value - 1;
  change.doubt = doubt_of(base, now);
  change.reason = problem_of(base, now);
  if (change.reason.empty() && !(now.estimate->value > 0)) change.reason = "NEW: is 0";
  if (!change.reason.empty()) return change;
  const std::size_t pairs = base.launches.size();
  const bool in_pairs = rule.in_pairs && pairs > 1 && now.launches.size() == pairs;
  for (const Row* side : {&base, &now})
    if (in_pairs && !(*std::ranges::min_element(side->launches) > 0))
      change.reason =
          fmt::format("{}: is 0 in one of its launches", side == &base ? "BASE" : "NEW");
  if (!change.reason.empty()) return change;
  const Uncertain difference =
      in_pairs ? difference_in_pairs(base, now) : difference_of_sides(base, now, rule);
  if (!is_measured(difference)) {
    change.reason = "not precise enough: not measured values";
    return change;
  }
  set_change(change, difference);
  change.single = base.launches.empty() || now.launches.empty();
  const bool pilots = have_pilots(base, now);
  for (const Row* side : {&base, &now}) {
    const bool known = pilots || rule.launch_spread || side->launch_spread;
    change.guest = change.guest || (side->guest && side->launches.empty() && !known);
  }
  if (pilots) weigh_pilots(change, *base.relative, *now.relative, rule);
  return change;
}

void judge(const std::vector<Change*>& changes, const CompareRule& rule) {
  std::vector<Change*> known;
  std::vector<double> chances;
  for (Change* change : changes) {
    if (!change->p) continue;
    known.push_back(change);
    chances.push_back(*change->p);
  }
  const std::vector<bool> stand = standing(chances, Procedure::holm, alpha);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Change& change = *known[i];
    const bool is_better = (*change.part < 0) == (change.unit.better() == Better::lower);
    const bool differs = stand[i] && std::abs(*change.part) >= rule.min_effect;
    if (differs && change.guest)
      add_doubt(change, "one run on a virtual machine, which may be another the next time");
    change.explained = change.explained || (differs && change.single && !change.doubt.empty());
    if (change.explained)
      change.verdict = CaseVerdict::not_distinguishable;
    else if (differs)
      change.verdict = is_better ? CaseVerdict::faster : CaseVerdict::slower;
    else if (*change.low >= -rule.min_effect && *change.high <= rule.min_effect)
      change.verdict = CaseVerdict::same;
    else
      change.verdict = CaseVerdict::not_distinguishable;
    if (counts_alone(change, rule) && !stand[i] && !change.explained)
      change.chance_among = known.size();
  }
}

Row row_of_launches(const std::vector<Row>& launches) {
  Row all = launches.front();
  all.launches.clear();
  for (const Row& one : launches) {
    if (all.problem.empty()) all.problem = one.problem;
    if (all.problem.empty()) all.problem = place_difference(all.observed, one.observed);
    if (all.disturbed.empty()) all.disturbed = one.disturbed;
    if (one.estimate) all.launches.push_back(one.estimate->value);
  }
  if (!all.problem.empty() || all.launches.size() != launches.size()) return all;
  all.estimate = estimate_of(mean_of(all.launches), alpha);
  all.problem = width_problem(*all.estimate);
  return all;
}

}  // namespace numatlas

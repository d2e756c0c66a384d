#include "compare/judge.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/figure.h"

namespace numatlas {
namespace {

constexpr const char* side_names[] = {"BASE", "NEW"};
constexpr double alpha = 0.05;

/// A variance and how well it is known.
struct Spread {
  double variance = 0;
  double freedom = std::numeric_limits<double>::infinity();
};

double upper_quantile(double freedom) {
  if (std::isinf(freedom)) return quantile(complement(boost::math::normal(), alpha / 2));
  return quantile(complement(boost::math::students_t(freedom), alpha / 2));
}

/// Probability of values at least that far from 0, on either side.
double both_tails(double t, double freedom) {
  if (std::isinf(t)) return 0;
  if (std::isinf(freedom)) return 2 * cdf(complement(boost::math::normal(), t));
  return 2 * cdf(complement(boost::math::students_t(freedom), t));
}

/// Of the logarithm of a figure, by its interval.
Spread spread_of(double value, const Interval& interval, double freedom) {
  const double half = std::max(interval.high - value, value - interval.low) / value;
  const double error = half / upper_quantile(freedom);
  return {error * error, freedom};
}
Spread spread_of(const StoredFigure& figure) {
  return spread_of(*figure.value, *figure.interval, figure.freedom);
}
Spread spread_of(const RelativeFigure& figure) {
  return spread_of(figure.value, figure.interval, figure.freedom);
}

/// Welch and Satterthwaite.
Spread sum_of(const std::vector<Spread>& parts) {
  Spread sum;
  double weights = 0;
  for (const Spread& part : parts) {
    sum.variance += part.variance;
    weights += part.variance * part.variance / part.freedom;
  }
  if (weights > 0) sum.freedom = sum.variance * sum.variance / weights;
  return sum;
}

struct Mean {
  double value = 0;
  Spread spread;  ///< of it
};

/// The mean of two values or more, and how well it is known.
Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, {squares / (n - 1) / n, n - 1}};
}

Mean difference_in_pairs(const StoredFigure& base, const StoredFigure& now) {
  std::vector<double> each;
  for (std::size_t i = 0; i < base.launches.size(); ++i)
    each.push_back(std::log(now.launches[i] / base.launches[i]));
  return mean_of(each);
}

/// Whether both are of one launch, with the same pilots.
bool have_pilots(const StoredFigure& base, const StoredFigure& now) {
  return base.launches.empty() && now.launches.empty() && base.relative && now.relative &&
         base.relative->pilot == now.relative->pilot;
}

Mean difference_of_sides(const StoredFigure& base, const StoredFigure& now,
                         const CompareRule& rule) {
  std::vector<Spread> parts{spread_of(base), spread_of(now)};
  // What differs from launch to launch with the speed of the machine, the pilots tell.
  const bool pilots = have_pilots(base, now);
  // Both sides are judged by the same earlier launches: as little is known of both as of one.
  Spread launches;
  for (const StoredFigure* side : {&base, &now}) {
    if (side->launches.size() > 1) continue;
    const auto& known = side->launch_spread;
    const double deviation = known && !pilots ? known->deviation : rule.launch_spread_taken();
    launches.variance += deviation * deviation;
    if (known && !pilots) launches.freedom = std::min(launches.freedom, known->freedom);
  }
  parts.push_back(launches);
  return {std::log(*now.value / *base.value), sum_of(parts)};
}

/// Sets interval and probability of a change from the logarithm of its size.
void set_change(Change& change, const Mean& difference) {
  const double error = std::sqrt(difference.spread.variance);
  const double half = upper_quantile(difference.spread.freedom) * error;
  change.part = std::exp(difference.value) - 1;
  change.low = std::exp(difference.value - half) - 1;
  change.high = std::exp(difference.value + half) - 1;
  if (error > 0)
    change.p = both_tails(std::abs(difference.value) / error, difference.spread.freedom);
  else
    change.p = difference.value == 0 ? 1 : 0;
}

/// A change of one launch each holds only where the machine as a whole does not explain it.
void weigh_pilots(Change& change, const RelativeFigure& base, const RelativeFigure& now,
                  const CompareRule& rule) {
  if (!(base.value > 0) || !(now.value > 0)) return;
  const Spread launch{rule.launch_spread_taken() * rule.launch_spread_taken()};
  const Mean difference{std::log(now.value / base.value),
                        sum_of({spread_of(base), spread_of(now), launch, launch})};
  if (!std::isfinite(difference.value) || !std::isfinite(difference.spread.variance)) return;
  Change relative;
  set_change(relative, difference);
  const bool alone = *change.p <= alpha && std::abs(*change.part) >= rule.min_effect;
  const bool agree = (*relative.part < 0) == (*change.part < 0) &&
                     std::abs(*relative.part) >= rule.min_effect && *relative.p <= alpha;
  change.relative = relative.part;
  change.p = agree ? std::max(*change.p, *relative.p) : 1;
  change.low = std::min(*change.low, *relative.low);
  change.high = std::max(*change.high, *relative.high);
  if (!alone || agree) return;
  change.explained = true;
  const double pilot = (1 + *change.part) / (1 + *relative.part) - 1;
  change.doubt += change.doubt.empty() ? "" : "; ";
  change.doubt +=
      std::abs(pilot) >= rule.min_effect
          ? fmt::format("the machine as a whole changed too (pilot: {:+.1f} %)", pilot * 100)
          : std::string("relative to the pilots it varies too much for a verdict");
}

/// Why one of two figures says nothing; "" where both do.
std::string problem_of(const StoredFigure& base, const StoredFigure& now, Unit unit) {
  if (!base.problem.empty() && base.problem == now.problem) return "both: " + base.problem;
  const StoredFigure* sides[] = {&base, &now};
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->problem.empty()) return fmt::format("{}: {}", side_names[i], sides[i]->problem);
  for (int i = 0; i < 2; ++i)
    if (!sides[i]->value || !sides[i]->interval)
      return fmt::format("{}: its interval is not known", side_names[i]);
  if (!(*base.value > 0)) return "BASE: is 0";
  if (unit.better() == Better::neither)
    return fmt::format("unknown whether a higher '{}' is better", unit.symbol());
  return "";
}

/// Which side was disturbed, and by what.
std::string doubt_of(const StoredFigure& base, const StoredFigure& now) {
  std::vector<std::string> parts;
  const StoredFigure* sides[] = {&base, &now};
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

CaseVerdict direction_of(double part, Unit unit) {
  return (part < 0) == (unit.better() == Better::lower) ? CaseVerdict::faster : CaseVerdict::slower;
}

Change begin_change(const StoredFigure& base, const StoredFigure& now, Unit unit) {
  Change change;
  if (base.value && now.value && *base.value > 0) change.part = *now.value / *base.value - 1;
  change.doubt = doubt_of(base, now);
  change.reason = problem_of(base, now, unit);
  return change;
}

Change change_between(const StoredFigure& base, const StoredFigure& now, Unit unit,
                      const CompareRule& rule) {
  Change change = begin_change(base, now, unit);
  if (change.reason.empty() && !(*now.value > 0)) change.reason = "NEW: is 0";
  if (!change.reason.empty()) return change;
  const std::size_t pairs = base.launches.size();
  const bool in_pairs = rule.in_pairs && pairs > 1 && now.launches.size() == pairs;
  for (const StoredFigure* side : {&base, &now})
    if (in_pairs && !(*std::ranges::min_element(side->launches) > 0))
      change.reason =
          fmt::format("{}: is 0 in one of its launches", side == &base ? "BASE" : "NEW");
  if (!change.reason.empty()) return change;
  const Mean difference =
      in_pairs ? difference_in_pairs(base, now) : difference_of_sides(base, now, rule);
  if (!std::isfinite(difference.value) || !std::isfinite(difference.spread.variance)) {
    change.reason = "not precise enough: not measured values";
    return change;
  }
  set_change(change, difference);
  change.single = base.launches.empty() || now.launches.empty();
  const bool pilots = have_pilots(base, now);
  for (const StoredFigure* side : {&base, &now}) {
    const bool known = pilots || rule.launch_spread || side->launch_spread;
    change.guest = change.guest || (side->guest && side->launches.empty() && !known);
  }
  if (pilots) weigh_pilots(change, *base.relative, *now.relative, rule);
  return change;
}

void judge(const std::vector<Change*>& changes, const std::vector<Unit>& units,
           const CompareRule& rule) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i]->p) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *changes[i]->p; });
  bool rejects = true;  // Holm: up to the first that is likely enough
  for (std::size_t i = 0; i < order.size(); ++i) {
    Change& change = *changes[order[i]];
    rejects = rejects && *change.p <= alpha / static_cast<double>(order.size() - i);
    const bool differs = rejects && std::abs(*change.part) >= rule.min_effect;
    if (differs && change.guest)
      change.doubt += std::string(change.doubt.empty() ? "" : "; ") +
                      "one launch on a virtual machine, which may be another the next time";
    change.explained = change.explained || (differs && change.single && !change.doubt.empty());
    if (change.explained)
      change.verdict = CaseVerdict::not_distinguishable;
    else if (differs)
      change.verdict = direction_of(*change.part, units[order[i]]);
    else if (*change.low >= -rule.min_effect && *change.high <= rule.min_effect)
      change.verdict = CaseVerdict::same;
    else
      change.verdict = CaseVerdict::not_distinguishable;
    const bool alone = *change.p <= alpha && std::abs(*change.part) >= rule.min_effect;
    if (alone && !rejects && !change.explained) change.chance_among = order.size();
  }
}

StoredFigure figure_of_launches(const std::vector<StoredFigure>& launches) {
  StoredFigure all = launches.front();
  all.launches.clear();
  for (const StoredFigure& one : launches) {
    if (all.problem.empty()) all.problem = one.problem;
    if (all.problem.empty()) all.problem = place_difference(all.observed, one.observed);
    if (all.disturbed.empty()) all.disturbed = one.disturbed;
    if (one.value) all.launches.push_back(*one.value);
  }
  if (!all.problem.empty() || all.launches.size() != launches.size()) return all;
  const Mean mean = mean_of(all.launches);
  all.freedom = mean.spread.freedom;
  const double half = upper_quantile(all.freedom) * std::sqrt(mean.spread.variance);
  all.value = mean.value;
  all.interval = Interval{mean.value - half, mean.value + half};
  all.problem = width_problem(mean.value, *all.interval);
  return all;
}

}  // namespace numatlas

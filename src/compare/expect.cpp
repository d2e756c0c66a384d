#include "compare/expect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "record/figure.h"

namespace numatlas {
namespace {

constexpr const char* option = "--expect";
constexpr const char* how = "write NAME=VALUE, as triad=350GB/s,latency=120ns";

Expected<Expectation> expectation_of(std::string_view text) {
  const std::string word(trim(text));
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail_usage(option, fmt::format("'{}' is not NAME=VALUE", printable(word)), how);
  const std::string value(trim(word.substr(equals + 1)));
  constexpr const char* units = "rates take GB/s, GiB/s or M/s, times ns, us, ms or s";
  const auto limit = parse_quantity(value);
  if (!limit) return fail_usage(option, limit.error().message, units);
  const Unit unit = *Unit::named(limit->unit);
  if (!unit.is_time_or_rate())
    return fail_usage(option, fmt::format("'{}' is neither a rate nor a time", value), units);
  return Expectation{std::string(trim(word.substr(0, equals))), limit->value, unit};
}

bool is_better(double one, double other, Unit unit) {
  return unit.better() == Better::lower ? one < other : one > other;
}

}  // namespace

bool is_preferred(const ExpectedFigure& one, const ExpectedFigure& other,
                  const Expectation& expected) {
  if (one.of_fact != other.of_fact) return one.of_fact;
  if (one.memory != other.memory) return one.memory > other.memory;
  return is_better(one.figure.estimate->value, other.figure.estimate->value, expected.unit);
}

Expected<std::vector<Expectation>> parse_expectations(std::string_view text) {
  std::vector<Expectation> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    all.push_back(TRY(expectation_of(text.substr(at, end - at))));
    at = end + 1;
  }
  return all;
}

std::optional<ExpectedFigure> figure_for(const Expectation& expected, const StoredRun& run,
                                         std::size_t host) {
  std::optional<ExpectedFigure> best;
  const auto offer = [&](ExpectedFigure one) {
    if (one.figure.estimate && (!best || is_preferred(one, *best, expected))) best = std::move(one);
  };
  if (run.hosts.size() == 1) {
    for (const Fact& fact : run.facts) {
      if (fact.key != expected.name || fact.unit != expected.unit) continue;
      StoredFigure figure;
      figure.estimate = fact.estimate;
      offer({fact.words, std::move(figure), true});
    }
    if (best) return best;
  }
  for (const StoredCase& one : run.cases) {
    const bool mine = one.host ? *one.host == host : run.hosts.size() == 1;
    const bool whole = one.level == CaseLevel::point || one.level == CaseLevel::lone_flow ||
                       one.level == CaseLevel::host;
    if (!mine || !whole || one.unit != expected.unit) continue;
    if (one.kernel == expected.name || one.metric == expected.name)
      offer({one.point, one.figure, false, one.memory});
  }
  return best;
}

std::vector<std::string> names_to_expect(const StoredRun& run, std::optional<Unit> unit) {
  std::vector<std::string> names;
  for (const Fact& fact : run.facts)
    if (unit ? fact.unit == *unit : fact.unit.is_time_or_rate()) add_once(names, fact.key);
  for (const StoredCase& one : run.cases) {
    if (one.level == CaseLevel::flow || one.level == CaseLevel::machine ||
        (unit && one.unit != *unit))
      continue;
    if (!one.kernel.empty()) add_once(names, one.kernel);
    if (!one.metric.empty()) add_once(names, one.metric);
  }
  return names;
}

}  // namespace numatlas

#include "compare/expect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
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

/// What a fact stands for is more than any case.
constexpr Bytes of_fact{std::numeric_limits<std::uint64_t>::max()};

/// Facts before cases, then the one with more memory, then the better one.
bool is_preferred(const Row& one, const Row& other) {
  if (one.memory != other.memory) return one.memory > other.memory;
  const bool lower = one.unit.better() == Better::lower;
  return lower ? one.estimate->value < other.estimate->value
               : one.estimate->value > other.estimate->value;
}

/// What could have been named; in this unit where one is given.
std::vector<std::string> names_to_expect(const std::vector<const Rows*>& newest,
                                         std::optional<Unit> unit) {
  std::vector<std::string> names;
  for (const Rows* run : newest) {
    for (const Fact& fact : run->facts)
      if (unit ? fact.unit == *unit : fact.unit.is_time_or_rate()) add_once(names, fact.key);
    for (const Row& row : run->rows) {
      if (row.level == RowLevel::flow || row.level == RowLevel::machine ||
          (unit && row.unit != *unit))
        continue;
      if (!row.kernel.empty()) add_once(names, row.kernel);
      if (!row.figure.empty()) add_once(names, row.figure);
    }
  }
  return names;
}

}  // namespace

Expected<std::vector<Expectation>> parse_expectations(std::string_view text) {
  std::vector<Expectation> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    all.push_back(TRY(expectation_of(text.substr(at, end - at))));
    at = end + 1;
  }
  return all;
}

std::optional<Row> figure_for(const Expectation& expected, const Rows& run, std::size_t host) {
  std::optional<Row> best;
  const auto offer = [&](const Row& one) {
    if (one.estimate && (!best || is_preferred(one, *best))) best = one;
  };
  for (const Fact& fact : run.facts) {
    if (run.hosts.size() != 1 || fact.key != expected.name || fact.unit != expected.unit) continue;
    Row row;
    row.command = run.command;
    row.name = fact.words;
    row.unit = fact.unit;
    row.memory = of_fact;
    row.estimate = fact.estimate;
    offer(row);
  }
  for (const Row& one : run.rows) {
    const bool mine = one.host ? *one.host == host : run.hosts.size() == 1;
    const bool whole = one.level == RowLevel::whole || one.level == RowLevel::lone_flow ||
                       one.level == RowLevel::host;
    if (mine && whole && one.unit == expected.unit &&
        (one.kernel == expected.name || one.figure == expected.name))
      offer(one);
  }
  return best;
}

Expected<Held> hold_against(const Expectation& expected, const std::vector<const Rows*>& newest) {
  std::map<std::string, Row> found;
  for (const Rows* run : newest) {
    for (std::size_t i = 0; i < run->hosts.size(); ++i) {
      const auto row = figure_for(expected, *run, i);
      if (!row) continue;
      const auto [place, is_new] = found.try_emplace(run->hosts[i], *row);
      if (!is_new && is_preferred(*row, place->second)) place->second = *row;
    }
  }
  Held held;
  const bool lower = expected.unit.better() == Better::lower;
  for (auto& [name, row] : found) {
    held.hosts.push_back(name);
    // Its whole interval has to miss the limit.
    const double best =
        (lower ? row.estimate->low : row.estimate->high).value_or(row.estimate->value);
    if (lower ? best <= expected.limit : best >= expected.limit) continue;
    row.figure = expected.name;
    row.is_median = false;
    held.findings.push_back(
        finding_of(finding::below, name, row, row.estimate->value, expected.limit, {"--expect"}));
  }
  if (!found.empty()) return held;
  const auto fitting = names_to_expect(newest, expected.unit);
  return fail_usage("--expect",
                    fmt::format("no result has a figure '{}' in {}", expected.name,
                                expected.unit == "B/s"   ? "bytes per second"
                                : expected.unit == "1/s" ? "operations per second"
                                                         : "seconds"),
                    fitting.empty() ? fmt::format("these have other units: {}",
                                                  fmt::join(names_to_expect(newest, {}), ", "))
                                    : fmt::format("these have: {}", fmt::join(fitting, ", ")));
}

}  // namespace numatlas

// What somebody expects of a host: "triad=350GB/s", "latency=120ns".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/stored.h"

namespace numatlas {

/// Rates are to be at least the limit, times at most.
struct Expectation {
  std::string name;  ///< of a kernel, a metric or a fact
  double limit = 0;
  Unit unit;  ///< "s", "B/s", "1/s"
};

/// `text`: NAME=VALUE, several separated by commas. Errors name --expect.
Expected<std::vector<Expectation>> parse_expectations(std::string_view text);

/// A figure that an expectation is of.
struct ExpectedFigure {
  std::string name;  ///< of its case
  StoredFigure figure;
  bool of_fact = false;
  Bytes memory{};  ///< that its case used
};
/// Facts before cases, then the one with more memory, then the better one.
bool is_preferred(const ExpectedFigure& one, const ExpectedFigure& other,
                  const Expectation& expected);
/// That of a host (index) of a run: the fact of that name, else of the cases of that kernel or
/// metric those with the most memory of all workers; of several the best. nullopt where the run has
/// none.
std::optional<ExpectedFigure> figure_for(const Expectation& expected, const StoredRun& run,
                                         std::size_t host);

/// What could have been named, of a run; in this unit where one is given.
std::vector<std::string> names_to_expect(const StoredRun& run, std::optional<Unit> unit);

}  // namespace numatlas

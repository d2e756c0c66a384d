// What somebody expects of a host: "triad=350GB/s", "latency=120ns".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/rows.h"
#include "base/error.h"

namespace numatlas {

/// Rates are to be at least the limit, times at most.
struct Expectation {
  std::string name;  ///< of a kernel, a metric or a fact
  double limit = 0;
  Unit unit;  ///< "s", "B/s", "1/s"
};

/// `text`: NAME=VALUE, several separated by commas. Errors name --expect.
Expected<std::vector<Expectation>> parse_expectations(std::string_view text);

/// That of a host (index) of a run: the fact of that name, else of the rows of that kernel or
/// metric those with the most memory of all workers; of several the best. nullopt where the run has
/// none.
std::optional<Row> figure_for(const Expectation& expected, const Rows& run, std::size_t host);

struct Held {
  std::vector<Case> findings;      ///< `below`
  std::vector<std::string> hosts;  ///< all that have such a figure
};
/// The newest figures of each host, over the runs of all commands, against what is expected of it.
/// Error (usage): no host has one.
Expected<Held> hold_against(const Expectation& expected, const std::vector<const Rows*>& newest);

}  // namespace numatlas

#include "benchmarks/slow_options.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/options.h"

namespace numatlas {

int exit_code_of(const SlowReport& slow) {
  if (slow.slow() > 0) return exit_code_of_slow_nodes;
  return slow.unjudged.empty() ? 0 : exit_code_of_unjudged_nodes;
}

void SlowOptions::add_to(CLI::App& app) {
  refuse_empty(app.add_option("--slow", slow_,
                              "a node is slow when it lies this far below the median of its kind, "
                              "or further, ..."))
      ->type_name("PERCENT")
      ->capture_default_str();
  refuse_empty(app.add_option("--mads", mads_,
                              "... and this many scaled median absolute deviations, and its "
                              "interval too"))
      ->type_name("N")
      ->capture_default_str();
}

Expected<SlowRule> SlowOptions::parse() const {
  SlowRule rule;
  const auto drop = parse_part(slow_);
  if (!drop) return fail(ErrorKind::usage, "--slow: " + drop.error().message, drop.error().hint);
  rule.drop = *drop;
  constexpr double most = 1e6;  // anything near it is a slip of the hand
  const auto [end, code] = std::from_chars(mads_.data(), mads_.data() + mads_.size(), rule.mads);
  if (code != std::errc{} || end != mads_.data() + mads_.size() || !(rule.mads > 0) ||
      rule.mads > most)
    return fail(ErrorKind::usage, fmt::format("--mads: '{}' is not a number above 0", mads_));
  return rule;
}

}  // namespace numatlas

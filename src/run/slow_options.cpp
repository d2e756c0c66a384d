#include "run/slow_options.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/units.h"
#include "run/declare.h"

namespace numatlas {

int exit_code_of(const Judged& judged) {
  if (!judged.slow_hosts().empty()) return exit_code_of_slow_nodes;
  return judged.unjudged.empty() ? 0 : exit_code_of_unjudged_nodes;
}

void SlowOptions::add_to(CLI::App& app) {
  add_value(app, "--slow", slow_, "FRACTION",
            "least distance of a slow host below the median of its kind (default: 5% in one "
            "kernel, 1.5% in all together)");
  rare(add_value(app, "--slow-together", together_, "FRACTION",
                 "least distance of a slow host below the median of its kind in all kernels "
                 "together (default: as --slow)"));
  add_value(
      app, "--mads", mads_, "N",
      fmt::format("least distance of a slow host below the median of its kind, in scaled "
                  "MADs\n"
                  "The scaled MAD is 1.4826 times the median absolute deviation of the hosts, "
                  "and at least {:g} % of the median ({:g} % in all kernels together). A slow "
                  "host meets both --slow and --mads, and its interval lies below the median",
                  SlowRule{}.least_spread * 100, SlowRule{}.least_spread / 2 * 100));
}

Expected<SlowRule> SlowOptions::parse() const {
  SlowRule rule;
  if (!slow_.empty()) {
    const auto drop = parse_part(slow_);
    if (!drop) return fail(about("--slow", drop.error()));
    rule.drop = rule.drop_together = *drop;
  }
  if (!together_.empty()) {
    const auto drop = parse_part(together_);
    if (!drop) return fail(about("--slow-together", drop.error()));
    rule.drop_together = *drop;
  }
  if (const auto comma = decimal_comma(mads_)) return fail(about("--mads", *comma));
  constexpr double most = 1e6;  // anything near it is a slip of the hand
  const auto [end, code] = std::from_chars(mads_.data(), mads_.data() + mads_.size(), rule.mads);
  if (code != std::errc{} || end != mads_.data() + mads_.size() || !(rule.mads > 0) ||
      rule.mads > most)
    return fail_usage("--mads", fmt::format("'{}' is not a number above 0", mads_));
  return rule;
}

}  // namespace numatlas

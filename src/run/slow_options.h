// --slow, --slow-together and --mads: when a node counts as slow.
#pragma once

#include <string>

#include "analysis/peers.h"
#include "base/cli_forward.h"
#include "base/error.h"

namespace numatlas {

/// Exit code where slow nodes are found and the command says so by it (docs/exit-codes.md).
constexpr int exit_code_of_slow_nodes = 1;
/// Where none is found, but not all nodes could be judged: too few of a kind, no finished round.
constexpr int exit_code_of_unjudged_nodes = 9;

int exit_code_of(const Judged& judged);

class SlowOptions {
 public:
  void add_to(CLI::App& app);
  /// Errors name the option.
  Expected<SlowRule> parse() const;

 private:
  std::string slow_, together_, mads_ = "6";
};

}  // namespace numatlas

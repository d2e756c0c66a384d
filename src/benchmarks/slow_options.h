// --slow and --mads: when a node counts as slow.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "fleet/slow_nodes.h"

namespace numatlas {

class SlowOptions {
 public:
  void add_to(CLI::App& app);
  /// Errors name the option.
  Expected<SlowRule> parse() const;

 private:
  std::string slow_ = "5%", mads_ = "6";
};

}  // namespace numatlas

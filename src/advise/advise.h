// The placement that is fastest for a program, found by running it: look, propose, race, answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/candidates.h"

namespace numatlas {

struct AdviseOptions {
  std::vector<std::string> program;
  std::vector<std::string> arguments;  ///< of numatlas, for the record
  std::optional<Atlas> atlas;
  std::set<Aspect> axes;
  Metric metric;
  std::string prepare;            ///< line of the shell before each run; "" for none
  std::string input;              ///< file that the program reads; "" for nothing
  std::optional<double> timeout;  ///< seconds that a run may take
  double seconds = 300;           ///< for all runs; `runs` instead counts them
  std::optional<std::size_t> runs;
  double min_effect = 0.02;  ///< a smaller gain is none
  std::size_t warmup = 0;
  bool show_output = false;
  bool curve = false;  ///< how it takes loads and a second memory, instead of the best placement
  std::uint64_t seed = 1;
  /// Told of what goes on, in lines for people.
  std::function<void(const std::string&)> told = {};
  std::function<void(const RaceProgress&, const RaceResult&, const std::vector<Candidate>&,
                     const Metric&)>
      progress = {};
};

/// The points of its curves. Runs nothing.
Expected<std::vector<Candidate>> curve_for(const Machine& machine);

/// What can be proposed for a program of which this is known, on any machine. Runs nothing.
std::vector<Candidate> candidates_for(const AdviseOptions& options, const Machine& machine,
                                      const ProgramTraits& traits);

/// Runs the program, and says what came of it; after a stop what is known so far (its race is not
/// complete). Errors: the program cannot be started, or does not end well as it is (kind usage, the
/// program as subject), and those of run_program.
Expected<Advice> advise(const AdviseOptions& options, const Machine& machine);

}  // namespace numatlas

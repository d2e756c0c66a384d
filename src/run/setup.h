// What stands before the first measurement: machine, workers, plan, and what of the plan can be
// done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "comm/comm.h"
#include "run/benchmark.h"

namespace numatlas {

struct TimeNeeded;  // run/rounds.h

/// The same on every rank, but for `machine`, which is the own host's. Of a run that is reduced to
/// the rounds of its hosts: of the own host alone.
struct Setup {
  Machine machine;
  Layout layout;
  std::vector<Machine> machines;  ///< one a host
  std::vector<PageKind> pages;    ///< of --pages; else the best that all hosts give
  std::string why_base;           ///< why these are base pages, where nobody asked for them
  std::vector<PlannedCase> plan;
  std::vector<std::optional<Error>> skips;  ///< by planned scenario: why it cannot be done
  std::vector<Warning> warnings;
  std::shared_ptr<Comm> host = {};  ///< the ranks of this host; of such a run only
};

/// Reads the machine, resolves the placement, plans, and checks memory and page kinds of every
/// host. Collective; an error is the same on every rank. Scenarios that cannot be done are an
/// error, or a skip with its reason where that was asked for (--skip-too-large) or where other page
/// kinds of the same run can be had. `known`: the machine, where it was read before. `before`: what
/// this rank found wrong already, an error of all ranks like those found here.
Expected<Setup> set_up(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                       const Machine* known = nullptr, const Expected<void>& before = {});

/// Takes out of the plan what does not stay.
void keep_only(Setup& setup, const std::function<bool(const PlannedCase&)>& stays);

/// What memory/ or a kernel says of a scenario's memory, in the options that asked for it, and what
/// to do where it is too large.
Error in_options(Error error, const PlannedCase& planned, const Benchmark& benchmark);

/// Why a scenario is skipped, for people. What to do about --pages is said there, as nothing else
/// of the run says it.
std::string skip_text(const Error& skip);

/// What the plan takes, with the cases that follow from others where it names them. Pure.
TimeNeeded time_of(const Setup& setup, const RunOptions& options);

/// The plan as JSON: workers, scenarios with their flows, warnings.
nlohmann::json plan_json(const Setup& setup);

/// The plan for people, or as JSON. `with_time`: false of a plan whose time is said beside it.
std::string plan_text(const Setup& setup, const RunOptions& options, bool with_time = true);

}  // namespace numatlas

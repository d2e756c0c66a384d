#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "commands/command.h"
#include "run/declare.h"
#include "run/runner.h"
#include "selftest/selftest.h"

namespace numatlas {

namespace {

Start declare_selftest(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<SelfTestOptions>();
  auto mpi = std::make_shared<std::string>("auto");
  add_choices(app, "--only", options->only, named(names_of_checks()), "run only these checks");
  add_choice(app, "--format", options->format, named(selftest_formats()),
             "format of standard output");
  app.add_flag("--dry-run", options->dry_run, "list the checks and stop");
  rare(add_quiet(app, options->quiet));
  add_mpi_option(app, *mpi);
  return [options, mpi]() -> Expected<int> {
    const char* const task = options->dry_run ? "selftest --dry-run" : "selftest";
    return code_with_ranks({task, *mpi, false},
                           [&](Comm& comm) { return run_selftest(*options, comm); });
  };
}

}  // namespace

Command selftest_command() {
  return {
      .name = "selftest",
      .summary = "check that this build measures correctly on this machine",
      .listing = {Topic::machine, true},
      .description =
          "Ends with exit code 0 when no check failed, 1 when one did, and 3 when all were "
          "skipped.",
      .examples = {{"Can measurements on this machine be trusted right now?", "numatlas selftest"},
                   {"Do all ranks agree on version and clock?",
                    "mpirun -n 4 numatlas selftest --only ranks,overlap"}},
      .measures = true,
      .declare = declare_selftest};
}

}  // namespace numatlas

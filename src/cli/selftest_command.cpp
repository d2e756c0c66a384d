#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "run/declare.h"
#include "run/runner.h"
#include "selftest/selftest.h"

namespace numatlas {

Command add_selftest_command(CLI::App& app) {
  auto options = std::make_shared<SelfTestOptions>();
  auto mpi = std::make_shared<std::string>("auto");
  add_choices(app, "--only", options->only, named(names_of_checks()), "run only these checks");
  add_choice(app, "--format", options->format, named(selftest_formats()),
             "format of standard output");
  app.add_flag("--dry-run", options->dry_run, "list the checks and stop");
  add_mpi_option(app, *mpi);
  app.footer(
      "Ends with exit code 0 when no check failed, 1 when one did, and 3 when all were skipped.");
  app.allow_extras();
  return [options, mpi]() -> Expected<int> {
    const char* const task = options->dry_run ? "selftest --dry-run" : "selftest";
    return code_with_ranks({task, *mpi, false},
                           [&](Comm& comm) { return run_selftest(*options, comm); });
  };
}

}  // namespace numatlas

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "benchmarks/declare.h"
#include "benchmarks/runner.h"
#include "cli/commands.h"
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
    int code = 0;
    const int failed =
        with_ranks({options->dry_run ? "selftest --dry-run" : "selftest", *mpi, false},
                   [&](Comm& comm) -> Expected<void> {
                     const auto mine = run_selftest(*options, comm);
                     if (!mine) return fail(mine.error());
                     const auto said = comm.largest(static_cast<std::uint64_t>(*mine));
                     if (!said) return fail(said.error());
                     code = static_cast<int>(*said);
                     return {};
                   });
    return failed != 0 ? failed : code;
  };
}

}  // namespace numatlas

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "audit/audit.h"
#include "base/units.h"
#include "benchmarks/parse.h"
#include "commands/command.h"
#include "report/reporter.h"
#include "run/declare.h"
#include "run/runner.h"

namespace numatlas {
namespace {

Start declare_audit(CLI::App& app, const CommandLine& line) {
  auto options = std::make_shared<AuditOptions>();
  auto mpi = std::make_shared<std::string>("auto");
  auto engine = std::make_shared<std::string>();
  add_parsed(app, "--time", options->measuring.time, "30s", "TIME",
             "time for all measurements, in seconds or with a unit\n"
             "Preparation is included; cases for which it is too short are skipped",
             parse_duration);
  std::vector<std::string> claims;
  for (const Claim* const claim : all_claims()) claims.emplace_back(claim->name);
  add_choices(app, "--only", options->only, named(claims), "judge only these claims");
  add_choice<std::optional<MachineUse>>(
      app, "--for", options->use,
      {{"throughput", MachineUse::throughput},
       {"latency", MachineUse::latency},
       {"hpc", MachineUse::hpc}},
      "also judge the settings of the system, for a machine used like that");
  add_parsed(app, "--peak-share", options->peak_share, "60%", "FRACTION",
             "share of the peak of memory modules and PCIe links to be reached", parse_part);
  add_choice(app, "--format", options->format, named(reporter_names()),
             "format of standard output; line is the first line alone");
  add_value(app, "--json", options->json_file, "FILE", "also write the whole result as JSON");
  app.add_flag("--strict", options->measuring.strict,
               "end with exit code 1 also where the figures are UNRELIABLE");
  add_quiet(app, options->measuring.quiet);
  app.add_flag("--dry-run", options->measuring.dry_run,
               "print the claims and the benchmarks that they need, and stop");
  rare(add_machine_option(app, options->measuring.machine));
  add_mpi_option(app, *mpi);
  app.add_option("--engine", *engine)->envname("NUMATLAS_ENGINE")->group("");
  return [options, mpi, engine, &line]() -> Expected<int> {
    options->measuring.arguments = line.words;
    options->measuring.null_engine = *engine == "null";
    const SurveyOptions& run = options->measuring;
    const bool alone = TRY(is_alone(run.machine, run.null_engine, run.dry_run));
    return code_with_ranks({task_text("audit", run, options->only), *mpi, alone},
                           [&](Comm& comm) { return run_audit(*options, comm); });
  };
}

}  // namespace

Command audit_command() {
  return {
      .name = "audit",
      .summary = "check claims of firmware and kernel by measurements",
      .listing = {Topic::machine},
      .description =
          "Ends with exit code 0 when no claim is contradicted, 1 when one is (the first line of "
          "standard output says which), and 3 when none could be judged. "
          "`numatlas compare` compares its --json with an earlier one, `numatlas check` with those "
          "of other hosts.",
      .examples = {{"Before a job: is this host what it says it is?",
                    "numatlas audit --time 15s --format line"},
                   {"With the settings that low latency needs", "numatlas audit --for latency"}},
      .measures = true,
      .declare = declare_audit,
      .exit_codes = ""};
}

}  // namespace numatlas

// Whether measurements on this machine can be trusted right now.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "commands/command.h"
#include "engine/agreement.h"
#include "machine/source.h"
#include "report/file.h"
#include "report/reporter.h"
#include "run/declare.h"
#include "run/runner.h"
#include "selftest/selftest.h"

namespace numatlas {
namespace {

struct SelfTestOptions {
  std::vector<std::string> only, words;
  std::string format = "table", mpi = "auto";
  bool dry_run = false, quiet = false;
};

/// Names of the cases with a verdict.
std::vector<std::string> names_of(const RunReport& report, const std::string& verdict) {
  std::vector<std::string> names;
  for (const Case& one : report.cases)
    if (label_of(one, "verdict") == verdict) names.push_back(one.name);
  return names;
}

RunReport report_of(std::vector<Case> cases, const Machine& machine, const Comm& comm) {
  RunReport report;
  report.command = "selftest";
  report.version = version;
  report.started = start_time({});
  report.complete = true;
  report.comm = comm.description();
  report.engine = "none";
  report.ranks = comm.size();
  report.hosts = comm.layout().hosts;
  if (report.hosts.size() == 1) report.machines = {machine};
  report.cases = std::move(cases);
  const auto failed = names_of(report, "failed");
  report.answer = fmt::format("numatlas selftest: {} passed, {} skipped, {} failed{}{}",
                              names_of(report, "passed").size(), names_of(report, "skipped").size(),
                              failed.size(), failed.empty() ? "" : ": ", fmt::join(failed, ", "));
  View view{.title = "Checks"};
  view.cells = {label_column("verdict", "verdict"), label_column("check", "test"),
                label_column("what was seen", "evidence")};
  report.views = {view};
  const auto busy = std::ranges::find(report.cases, "interference", &Case::name);
  if (busy == report.cases.end() || label_of(*busy, "verdict") != "failed") return report;
  report.trust = "unreliable";
  report.doubt = busy->reason;
  return report;
}

Expected<void> show(const RunReport& report, const std::string& format) {
  TextStyle style;
  style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  return write_stdout(text_in(format, report, style));
}

std::string plan_text(const std::vector<std::string>& only, const std::string& format) {
  std::vector<std::vector<std::string>> rows;
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : all_checks()) {
    if (!only.empty() && std::ranges::find(only, check.name) == only.end()) continue;
    rows.push_back({check.name, check.summary});
    list.push_back({{"check", check.name}, {"summary", check.summary}});
  }
  return format == "json" ? pretty(list) : aligned(rows, 2);
}

Expected<int> run_selftest(const SelfTestOptions& options, Comm& comm) {
  const bool root = comm.rank() == 0;
  if (options.dry_run) {
    TRY(agree(comm, error_of(root ? write_stdout(plan_text(options.only, options.format))
                                  : Expected<void>{})));
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto machine = read_live_machine();
  TRY(agree(comm, error_of(machine)));
  RunReport report = report_of(TRY(run_checks(*machine, comm, options.only)), *machine, comm);
  report.arguments = options.words;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  TRY(agree(comm, error_of(root ? show(report, options.format) : Expected<void>{})));
  if (!root) return 0;
  if (!names_of(report, "failed").empty()) return 1;
  return names_of(report, "passed").empty() ? exit_code(ErrorKind::unavailable) : 0;
}

Start declare_selftest(CLI::App& app, const CommandLine& line) {
  auto options = std::make_shared<SelfTestOptions>();
  options->words = line.words;
  std::vector<std::string> names;
  for (const Check& check : all_checks()) names.emplace_back(check.name);
  add_choices(app, "--only", options->only, named(names), "run only these checks");
  add_choice(app, "--format", options->format, named(reporter_names()),
             "format of standard output; line is the first line alone");
  app.add_flag("--dry-run", options->dry_run, "list the checks and stop");
  rare(add_quiet(app, options->quiet));
  add_mpi_option(app, options->mpi);
  return [options]() -> Expected<int> {
    const char* const task = options->dry_run ? "selftest --dry-run" : "selftest";
    return code_with_ranks({task, options->mpi, false},
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
      .declare = declare_selftest,
      .exit_codes = ""};
}

}  // namespace numatlas

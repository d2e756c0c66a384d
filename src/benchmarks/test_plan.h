// Test helper: what a benchmark would do on a recorded machine.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/parse.h"
#include "machine/source.h"
#include "run/check_plan.h"
#include "run/device_flows.h"
#include "run/runner.h"

namespace numatlas::testing {

using Words = std::vector<std::string>;
using numatlas::Plan;

/// The words of a command line without quotes.
inline Words typed(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

inline std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedCase& planned : plan) names.push_back(planned.head.name);
  return names;
}

/// With " skipped" behind those that cannot be measured.
inline std::vector<std::string> names_and_skips_of(const Plan& plan) {
  std::vector<std::string> names = names_of(plan);
  for (std::size_t i = 0; i < plan.size(); ++i) names[i] += plan[i].skip ? " skipped" : "";
  return names;
}

/// Those asked for, else the machine's best.
inline std::vector<PageKind> pages_of(const RunOptions& options, const Machine& machine) {
  return options.pages.empty() ? std::vector{best_pages(machine).kind} : options.pages;
}

/// All that a plan depends on. Lives as long as what `input` gives.
struct Prepared {
  ParsedRun run;
  Layout layout;
  std::vector<Machine> machines;
  PlanInput input() const {
    return {run.options, layout, machines, pages_of(run.options, machines.front())};
  }
};

inline Expected<Prepared> prepare(const std::string& command, Words words, const Machine& machine) {
  words.push_back("--dry-run");
  auto run = TRY(parse_run(command, words));
  Machine complete = machine;
  if (run.benchmark.of_gpus) TRY(complete_gpus(run.options, complete));
  const auto placed = run.benchmark.workers(run.options, complete, TaskContext{});
  if (!placed) return fail(placed.error());
  Prepared prepared{std::move(run), {}, {complete}};
  prepared.layout.hosts = {"alpha"};
  for (const WorkerPlacement& place : *placed) prepared.layout.workers.push_back({0, 0, place});
  return prepared;
}

/// `machine`: a file or a synthetic description, as --machine takes it.
inline Expected<Prepared> prepare(const std::string& command, const Words& words,
                                  const std::string& machine) {
  const auto read = read_recorded_machine(machine);
  EXPECT_TRUE(read) << full_text(read.error());
  return prepare(command, words, *read);
}

template <class AnyMachine>
Expected<Plan> plan_on(const std::string& command, const Words& words, const AnyMachine& machine) {
  const auto prepared = TRY(prepare(command, words, machine));
  auto plan = TRY(prepared.run.benchmark.plan(prepared.input()));
  TRY(check_plan(plan, command));
  return plan;
}

/// Fails the test where there is no plan.
template <class AnyMachine>
Plan sure_plan(const std::string& command, const Words& words, const AnyMachine& machine) {
  auto plan = plan_on(command, words, machine);
  EXPECT_TRUE(plan) << full_text(plan.error());
  return plan ? *std::move(plan) : Plan{};
}

/// Of one host with one worker, run to its end.
inline RunReport one_worker() {
  RunReport report;
  report.hosts = {"alpha"};
  report.workers.resize(1);
  report.complete = true;
  return report;
}

/// The tables that a benchmark makes of a report.
inline std::string tables_of(const Benchmark& benchmark, RunReport report) {
  report.views = benchmark.shown.views(report);
  for (View& view : report.views) view.by_host = benchmark.shown.by_host;
  return benchmark.text(report, {});
}

/// What a command measures, by itself and without a word.
inline RunReport report_of_run(const std::string& command, Words words,
                               const std::optional<Noise>& noise = {}) {
  words.push_back("--quiet");
  auto parsed = parse_run(command, words);
  EXPECT_TRUE(parsed) << full_text(parsed.error());
  if (!parsed) return {};
  if (noise) parsed->options.noise = noise;
  RunHooks hooks;
  hooks.table = [](const RunReport&) { return std::string(); };
  const auto comm = make_single_comm();
  auto report = run_benchmark(parsed->benchmark, parsed->options, *comm, hooks);
  EXPECT_TRUE(report) << full_text(report.error());
  return report ? *std::move(report) : RunReport{};
}

}  // namespace numatlas::testing

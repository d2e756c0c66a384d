#include "selftest/selftest.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/peers.h"
#include "engine/agreement.h"
#include "engine/layout.h"
#include "placement/placement.h"

namespace numatlas {
namespace {

/// Two workers of this rank on CPUs that are not threads of one core, where it has such.
Expected<std::vector<WorkerPlacement>> workers_of(const Machine& machine, Comm& comm) {
  const auto task = TRY(gather_task_context(comm, machine));
  PlacementSpec spec;
  spec.cpus.form = CpuSpec::Form::cores;
  spec.threads = 2;
  auto workers = resolve_placement(spec, machine, task, 1);
  if (!workers) return workers;
  const bool apart = workers->size() == 2 && workers->front().cpus != workers->back().cpus;
  if (!apart) workers->resize(1);
  return workers;
}

/// What one rank found, or all.
struct Outcome {
  std::string verdict, detail;
  std::string next;  ///< of a failed check: what to do
};

Outcome outcome_of(const Expected<std::string>& seen) {
  if (seen) return {"passed", *seen, ""};
  const Error& error = seen.error();
  if (error.kind == ErrorKind::unavailable || error.kind == ErrorKind::permission ||
      error.kind == ErrorKind::interrupted)
    return {"skipped", with_hint(full_text(error), error), ""};
  return {"failed", full_text(error), full_hint(error)};
}

/// Of all ranks the first that failed, else the first that passed.
Outcome worst_of(const std::vector<std::string>& sent, const Comm& comm) {
  std::vector<Outcome> all;
  for (const std::string& text : sent)
    all.push_back(outcome_of(
        text.starts_with(error_mark) ? Expected<std::string>(fail(error_received(text))) : text));
  if (all.size() == 1) return all.front();
  for (const char* verdict : {"failed", "passed", "skipped"}) {
    const auto is_it = [&](const Outcome& one) { return one.verdict == verdict; };
    const auto first = std::ranges::find_if(all, is_it);
    if (first == all.end()) continue;
    const auto rank = static_cast<std::size_t>(first - all.begin());
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    const auto alike = std::ranges::count_if(all, is_it);
    first->detail = fmt::format(
        "rank {} on {}: {}{}", rank, comm.layout().hosts[host], first->detail,
        alike > 1 ? fmt::format("; {} on {} of {} ranks", verdict, alike, all.size()) : "");
    return *first;
  }
  return all.front();
}

Expected<ScenarioResult> run_check(const Check& check, const CheckInput& input) {
  TRY(input.comm.barrier());
  const auto start = std::chrono::steady_clock::now();
  const Expected<std::string> mine = check.run(input);
  Outcome found = outcome_of(mine);
  if (!check.of_all_ranks) {
    const auto all = TRY(input.comm.gather(mine ? *mine : error_to_send(mine.error())));
    if (input.comm.rank() == 0) found = worst_of(all, input.comm);
  }
  ScenarioResult one;
  one.name = check.name;
  one.kernel = "";
  const std::string next = found.next.empty() ? "" : "; next: " + found.next;
  one.labels = {
      {"test", check.name}, {"verdict", found.verdict}, {"evidence", found.detail + next}};
  if (found.verdict != "passed") one.reason = found.detail;
  if (found.verdict == "skipped") {
    one.status = Status::skipped;
    return one;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  one.figures = {plain_figure("failed", "", found.verdict == "failed" ? 1 : 0),
                 plain_figure("took", "s", took.count())};
  return one;
}

}  // namespace

Expected<std::vector<ScenarioResult>> run_checks(const Machine& machine, Comm& comm,
                                                 const std::vector<std::string>& only, bool quick) {
  auto workers = workers_of(machine, comm);
  TRY(agree(comm, error_of(workers)));
  const CheckInput input{machine, comm, *std::move(workers)};
  std::vector<ScenarioResult> cases;
  for (const Check& check : all_checks()) {
    const bool chosen = only.empty() || std::ranges::find(only, check.name) != only.end();
    if (chosen && (!quick || check.is_quick)) cases.push_back(TRY(run_check(check, input)));
  }
  return cases;
}

}  // namespace numatlas

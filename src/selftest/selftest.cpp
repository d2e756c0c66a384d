#include "selftest/selftest.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "engine/layout.h"
#include "machine/source.h"
#include "placement/placement.h"
#include "report/answer.h"
#include "report/file.h"

namespace numatlas {
namespace {

using nlohmann::json;

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

std::string in_words(const CheckResult& result) {
  return json{{"outcome", static_cast<int>(result.outcome)},
              {"detail", result.detail},
              {"next", result.next}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

CheckResult from_words(const std::string& text) {
  const json value = json::parse(text);
  return {static_cast<CheckOutcome>(value["outcome"].get<int>()),
          value["detail"].get<std::string>(), value["next"].get<std::string>()};
}

/// Of all ranks' results the worst: a failed one, else a passed one.
CheckResult merged(const std::vector<std::string>& by_rank, const Comm& comm) {
  std::vector<CheckResult> all;
  for (const std::string& text : by_rank) all.push_back(from_words(text));
  if (all.size() == 1) return all.front();
  const auto count = [&](CheckOutcome outcome) {
    return std::count_if(all.begin(), all.end(),
                         [&](const CheckResult& one) { return one.outcome == outcome; });
  };
  const auto wrong = count(CheckOutcome::failed), right = count(CheckOutcome::passed);
  const CheckOutcome outcome = wrong > 0   ? CheckOutcome::failed
                               : right > 0 ? CheckOutcome::passed
                                           : CheckOutcome::skipped;
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const CheckResult& one) { return one.outcome == outcome; });
  CheckResult result = *first;
  const auto rank = static_cast<std::size_t>(first - all.begin());
  const std::string& host =
      comm.layout().hosts[static_cast<std::size_t>(comm.layout().host_of[rank])];
  result.detail = fmt::format("rank {} on {}: {}", rank, host, result.detail);
  const auto alike = count(outcome);
  if (alike > 1)
    result.detail += fmt::format("; {} on {} of {} ranks", name_of(outcome), alike, all.size());
  return result;
}

Expected<CheckLine> run_check(const Check& check, const CheckInput& input) {
  Comm& comm = input.comm;
  TRY(comm.barrier());
  const auto start = std::chrono::steady_clock::now();
  const CheckResult mine = check.run(input);
  CheckLine line{check.name(), mine, 0};
  if (!check.of_all_ranks()) {
    const auto all = TRY(comm.gather(in_words(mine)));
    if (comm.rank() == 0) line.result = merged(all, comm);
  }
  line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return line;
}

std::size_t count(const std::vector<CheckLine>& lines, CheckOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const CheckLine& line) { return line.result.outcome == outcome; }));
}

std::string summary_line(const std::vector<CheckLine>& lines) {
  std::string text = fmt::format(
      "numatlas selftest: {} passed, {} skipped, {} failed", count(lines, CheckOutcome::passed),
      count(lines, CheckOutcome::skipped), count(lines, CheckOutcome::failed));
  std::string names;
  for (const CheckLine& line : lines) {
    if (line.result.outcome == CheckOutcome::failed)
      names += (names.empty() ? ": " : ", ") + line.name;
  }
  return text + names;
}

std::string table_text(const std::vector<CheckLine>& lines) {
  std::vector<std::vector<std::string>> rows;
  for (const CheckLine& line : lines) {
    const std::string next = line.result.next.empty() ? "" : "; next: " + line.result.next;
    rows.push_back({name_of(line.result.outcome), line.name, line.result.detail + next});
  }
  const auto busy = std::ranges::find_if(lines, [](const CheckLine& line) {
    return line.name == "interference" && line.result.outcome == CheckOutcome::failed;
  });
  const std::string first = with_reserve(
      reserve_text(busy == lines.end() ? "" : busy->result.detail, ""), summary_line(lines));
  const std::size_t width = terminal_columns(STDOUT_FILENO).value_or(0);
  return wrapped(first, width) + aligned_within(rows, width);
}

std::string json_text(const std::vector<CheckLine>& lines, const Machine& machine, int ranks) {
  json checks = json::array();
  for (const CheckLine& line : lines) {
    checks.push_back({{"name", line.name},
                      {"outcome", name_of(line.result.outcome)},
                      {"detail", line.result.detail},
                      {"next", line.result.next},
                      {"seconds", line.seconds}});
  }
  return pretty({{"program", "numatlas"},
                 {"command", "selftest"},
                 {"version", version},
                 {"host", machine.host},
                 {"ranks", ranks},
                 {"summary", summary_line(lines)},
                 {"checks", std::move(checks)}});
}

bool is_chosen(const Check& check, const std::vector<std::string>& only) {
  return only.empty() || std::find(only.begin(), only.end(), check.name()) != only.end();
}

std::string plan_text(const std::vector<std::string>& only) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& check : all_checks()) {
    if (is_chosen(*check, only)) rows.push_back({check->name(), check->summary()});
  }
  return aligned(rows, 2);
}

}  // namespace

const char* name_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::passed: return "passed";
    case CheckOutcome::skipped: return "skipped";
    case CheckOutcome::failed: break;
  }
  return "failed";
}

CheckResult passed(std::string detail) { return {CheckOutcome::passed, std::move(detail), ""}; }
CheckResult skipped(std::string reason) { return {CheckOutcome::skipped, std::move(reason), ""}; }
CheckResult failed(std::string detail, std::string next) {
  return {CheckOutcome::failed, std::move(detail), std::move(next)};
}

std::vector<std::unique_ptr<Check>> all_checks() {
  std::vector<std::unique_ptr<Check>> all;
  all.push_back(make_clock_check());
  all.push_back(make_kernels_check());
  all.push_back(make_chain_check());
  all.push_back(make_placement_check());
  all.push_back(make_pages_check());
  all.push_back(make_overlap_check());
  all.push_back(make_slow_worker_check());
  all.push_back(make_interference_check());
  all.push_back(make_ranks_check());
  return all;
}

std::vector<std::string> names_of_checks() {
  std::vector<std::string> names;
  for (const auto& check : all_checks()) names.push_back(check->name());
  return names;
}

std::vector<std::string> selftest_formats() { return {"table", "json"}; }

Expected<std::vector<CheckLine>> run_checks(const Machine& machine, Comm& comm,
                                            const std::vector<std::string>& only, bool quick) {
  auto workers = workers_of(machine, comm);
  TRY(agree(comm, error_of(workers)));
  const CheckInput input{machine, comm, *std::move(workers)};
  std::vector<CheckLine> lines;
  for (const auto& check : all_checks()) {
    if (!is_chosen(*check, only) || (quick && !check->is_quick())) continue;
    auto line = TRY(run_check(*check, input));
    lines.push_back(std::move(line));
  }
  return lines;
}

Expected<int> run_selftest(const SelfTestOptions& options, Comm& comm) {
  if (options.dry_run) {
    const auto shown = comm.rank() == 0 ? write_stdout(plan_text(options.only)) : Expected<void>{};
    TRY(agree(comm, error_of(shown)));
    return 0;
  }
  const auto machine = read_live_machine();
  TRY(agree(comm, error_of(machine)));
  const auto lines = TRY(run_checks(*machine, comm, options.only, false));
  Expected<void> shown;
  if (comm.rank() == 0)
    shown = write_stdout(options.format == "json" ? json_text(lines, *machine, comm.size())
                                                  : table_text(lines));
  TRY(agree(comm, error_of(shown)));
  if (comm.rank() != 0 || count(lines, CheckOutcome::failed) > 0) return comm.rank() == 0 ? 1 : 0;
  return count(lines, CheckOutcome::passed) > 0 ? 0 : exit_code(ErrorKind::unavailable);
}

}  // namespace numatlas

#include "audit/audit.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audit/formats.h"
#include "audit/rules.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/agreement.h"
#include "report/answer.h"
#include "report/file.h"
#include "run/place_words.h"
#include "run/runner.h"
#include "run/slow_options.h"
#include "survey/measuring.h"
#include "survey/progress.h"

namespace numatlas {
namespace {

/// One audit in progress on one rank.
class Audit {
 public:
  Audit(const AuditOptions& options, Comm& comm)
      : options_(options),
        measuring_options_(options.measuring),
        comm_(comm),
        time_(std::chrono::duration<double>(options.measuring.time).count()),
        progress_(comm.rank() == 0 && !options.measuring.quiet && !options.measuring.dry_run,
                  time_) {}

  Expected<int> go();

 private:
  Expected<void> prepare();
  Expected<void> choose_claims();
  Expected<void> plan();
  Expected<void> measure();
  Expected<void> judge();
  Expected<void> show_plan() const;
  Expected<void> write() const;
  bool root() const { return comm_.rank() == 0; }

  const AuditOptions& options_;
  SurveyOptions measuring_options_;
  Comm& comm_;
  double time_;
  SurveyProgress progress_;
  std::vector<std::unique_ptr<Claim>> claims_;
  std::vector<SurveyItem> items_;
  AuditReport report_;
};

/// Claims that --only names, or all that the other options allow.
Expected<void> Audit::choose_claims() {
  for (auto& claim : all_claims()) {
    const std::string name = claim->name();
    const auto& only = options_.only;
    const bool named = std::find(only.begin(), only.end(), name) != only.end();
    if (!only.empty() && !named) continue;
    if (name == "settings" && !options_.use) {
      if (named)
        return fail_usage("--only", "settings takes --for", "add --for, or leave settings out");
      continue;
    }
    claims_.push_back(std::move(claim));
  }
  return {};
}

Expected<void> Audit::prepare() {
  const std::string& recorded = measuring_options_.machine;
  auto machine = machine_of_option(recorded);
  TRY(agree(comm_, error_of(machine)));
  report_.machine = *std::move(machine);
  report_.arguments = measuring_options_.arguments;
  report_.time_asked = time_;
  report_.null_engine = measuring_options_.null_engine;
  RunOptions clock;
  clock.null_engine = report_.null_engine;
  report_.started = start_time(clock);
  TRY(agree(comm_, error_of(choose_claims())));
  const bool writes = root() && !options_.json_file.empty();
  return agree(comm_,
               error_of(writes ? check_writable(options_.json_file, "--json") : Expected<void>{}));
}

/// The benchmarks that the claims take, as a survey of this time would run them.
Expected<void> Audit::plan() {
  std::vector<std::string>& only = measuring_options_.only;
  only.clear();
  for (const auto& claim : claims_) {
    for (const std::string& name : claim->benchmarks(report_.machine))
      if (std::find(only.begin(), only.end(), name) == only.end()) only.push_back(name);
  }
  // All ranks have to measure the same: the first one's.
  std::string names;
  for (const std::string& name : only) names += name + ",";
  const auto said = TRY(comm_.size() > 1 ? comm_.broadcast(names) : Expected<std::string>(names));
  only.clear();
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = said.find(',', at);
    only.push_back(said.substr(at, end - at));
    at = end + 1;
  }
  if (only.empty()) return {};
  // Several ranks measure what the first one's machine says.
  if (comm_.size() == 1) {
    for (const auto& claim : claims_)
      for (const std::string& name : only)
        if (auto words = claim->words(name, report_.machine); !words.empty())
          measuring_options_.words[name] = std::move(words);
  }
  // Claims take latencies and reads: more visits to them.
  measuring_options_.words["matrix"] = {"--kernels", "read", "--mix", "none"};
  items_ = TRY(plan_survey(measuring_options_, report_.machine, comm_));
  return {};
}

Expected<void> Audit::measure() {
  for (const SurveyItem& item : items_)
    if (!item.skip.empty()) report_.skipped.push_back({item.name, item.skip});
  if (report_.skipped.size() == items_.size()) return {};
  MeasuringHooks hooks;
  hooks.point = [this](const std::string& benchmark, std::size_t done, std::size_t all) {
    progress_.point(benchmark, done, all);
  };
  hooks.ended = [this](const std::string& benchmark, const std::string& outcome) {
    progress_.end(benchmark, outcome);
  };
  Measuring measuring(measuring_options_, report_.machine, items_, comm_, std::move(hooks));
  const double before = report_.null_engine ? 0 : progress_.seconds();
  const auto ran = measuring.run(time_ - before);
  const auto concluded = measuring.conclude(ran);
  progress_.clear();
  report_.skipped = measuring.skipped();
  measuring.each_report([&](const Benchmark&, const RunOptions&, const RunReport& one) {
    report_.reports.push_back(one);
  });
  return concluded;
}

Expected<void> Audit::judge() {
  report_.seconds = report_.null_engine ? 0 : progress_.seconds();
  AuditInput input{report_.machine, report_.reports, {}};
  for (const SkippedBenchmark& one : report_.skipped) input.skipped[one.benchmark] = one.reason;
  input.use = options_.use;
  input.peak_share = options_.peak_share;
  for (const RunReport& report : report_.reports) input.now.push_back(stored_run(report));
  for (const auto& claim : claims_) {
    for (ClaimVerdict& verdict : claim->judge(input))
      report_.verdicts.push_back(std::move(verdict));
  }
  spare_disturbed(report_.verdicts, report_.reports);
  return {};
}

Expected<void> Audit::show_plan() const {
  std::string text;
  for (const auto& claim : claims_) {
    const auto benchmarks = claim->benchmarks(report_.machine);
    std::string by;
    for (const std::string& name : benchmarks) by += (by.empty() ? "" : ", ") + name;
    text += fmt::format("{:<9} {} [{}]\n", claim->name(), claim->summary(),
                        by.empty() ? "nothing is measured" : by);
  }
  for (const SurveyItem& item : items_) {
    if (!item.skip.empty()) {
      text += fmt::format("skipped: {}: {}\n", item.name, item.skip);
      continue;
    }
    std::string line = fmt::format("$ numatlas {}", item.benchmark);
    for (const std::string& word : item.words) line += " " + shell_word(word);
    text += line + fmt::format("\n{:.1f} s of {:g} s\n", item.share, time_);
  }
  return write_stdout(text);
}

Expected<void> Audit::write() const {
  if (!options_.json_file.empty()) {
    auto wrote = write_whole(options_.json_file, audit_text(report_, "json"), "--json");
    if (!wrote) return wrote;
  }
  return write_stdout(
      audit_text(report_, options_.format, terminal_columns(STDOUT_FILENO).value_or(0)));
}

Expected<int> Audit::go() {
  TRY(prepare());
  TRY(plan());
  if (measuring_options_.dry_run) {
    const auto shown = agree(comm_, error_of(root() ? show_plan() : Expected<void>{}));
    if (!shown) return fail(shown.error());
    return 0;
  }
  if (auto measured = measure(); !measured) {
    // The ranks may no longer answer each other: the first one says what it has.
    const ErrorKind kind = measured.error().kind;
    const bool stopped = kind == ErrorKind::interrupted || kind == ErrorKind::peer;
    if (!stopped || !root()) return fail(measured.error());
    report_.stopped = full_text(measured.error());
    TRY(judge());
    TRY(write());
    return fail(measured.error());
  }
  Expected<void> ended;
  if (root()) {
    ended = judge();
    if (ended) ended = write();
  }
  TRY(agree(comm_, error_of(ended)));
  if (!root()) return 0;
  return options_.measuring.strict && !distrust_of(report_.reports).empty() ? 1
                                                                            : exit_code_of(report_);
}

}  // namespace

std::size_t AuditReport::count(ClaimOutcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(verdicts.begin(), verdicts.end(),
                    [&](const ClaimVerdict& verdict) { return verdict.outcome == outcome; }));
}

std::vector<std::string> names_of_claims() {
  std::vector<std::string> names;
  for (const auto& claim : all_claims()) names.push_back(claim->name());
  return names;
}

int exit_code_of(const AuditReport& report) {
  if (!distrust_of(report.reports).empty()) return exit_code_of_unjudged_nodes;
  if (report.count(ClaimOutcome::contradicted) > 0) return 1;
  return report.count(ClaimOutcome::confirmed) > 0 ? 0 : exit_code(ErrorKind::unavailable);
}

Expected<int> run_audit(const AuditOptions& options, Comm& comm) {
  return Audit(options, comm).go();
}

}  // namespace numatlas

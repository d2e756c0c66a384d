#include "audit/audit.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "record/report_json.h"
#include "report/answer.h"
#include "report/file.h"
#include "report/reporter.h"
#include "run/place_words.h"
#include "run/runner.h"
#include "run/slow_options.h"
#include "survey/measuring.h"

namespace numatlas {
namespace {

/// "hmat node 2 latency: 1.40 times node 0's, claimed 2.43": what somebody has to know first.
std::string short_text(const ClaimVerdict& verdict) {
  constexpr std::size_t most = 117;
  const std::string& found = verdict.short_found.empty() ? verdict.found : verdict.short_found;
  return shortened(fmt::format("{} {}: {}", verdict.claim, verdict.about, found), most);
}

/// "numatlas audit: 2 of 7 claims contradicted: hmat node 2 latency: ...; and 1 more". `verdicts`:
/// the contradicted ones first.
std::string answer_of(const std::vector<ClaimVerdict>& verdicts) {
  // Slurm and NHC keep more, but show about as much on one line.
  constexpr std::size_t most = 200;
  const auto count = [&](ClaimOutcome outcome) {
    return std::ranges::count(verdicts, outcome, &ClaimVerdict::outcome);
  };
  const auto wrong = count(ClaimOutcome::contradicted), right = count(ClaimOutcome::confirmed);
  const std::string all = count_text(verdicts.size(), "claim");
  std::string line = "numatlas audit: ";
  if (wrong == 0 && right == 0)
    return line + (verdicts.size() == 1 ? "the claim could not be judged"
                                        : fmt::format("none of {} could be judged", all));
  if (wrong == 0) return fmt::format("{}{} of {} confirmed, none contradicted", line, right, all);
  line += fmt::format("{} of {} contradicted:", wrong, all);
  for (std::ptrdiff_t i = 0; i < wrong; ++i) {
    const std::string more =
        (i == 0 ? " " : "; ") + short_text(verdicts[static_cast<std::size_t>(i)]);
    if (i > 0 && line.size() + more.size() > most)
      return line + fmt::format("; and {} more", wrong - i);
    line += more;
  }
  return shortened(std::move(line), most + 17);
}

Case case_of(const ClaimVerdict& verdict) {
  Case one;
  one.name = verdict.claim + " " + verdict.about;
  one.kernel = "";
  one.labels = {{"claim", verdict.claim},
                {"about", verdict.about},
                {"verdict", name_of(verdict.outcome)},
                {"evidence", to_text(verdict)}};
  if (verdict.outcome == ClaimOutcome::not_measurable) {
    one.status = Status::skipped;
    one.reason = to_text(verdict);
    return one;
  }
  const bool wrong = verdict.outcome == ClaimOutcome::contradicted;
  one.figures = {plain_figure("contradicted", "", wrong ? 1 : 0)};
  if (verdict.claimed_value)
    one.figures.push_back(plain_figure("claimed", verdict.unit, *verdict.claimed_value));
  if (verdict.measured) one.figures.push_back({"measured", verdict.unit, verdict.measured, {}});
  return one;
}

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
  void judge(const std::string& stopped);
  nlohmann::json plan_json() const;
  Expected<void> show_plan() const;
  Expected<void> write() const;
  bool root() const { return comm_.rank() == 0; }

  const AuditOptions& options_;
  SurveyOptions measuring_options_;
  Comm& comm_;
  double time_;
  SurveyProgress progress_;
  Machine machine_;
  std::string started_;
  std::vector<const Claim*> claims_;
  std::vector<SurveyItem> items_;
  std::vector<RunReport> results_;         ///< of the benchmarks that ran
  std::vector<SkippedBenchmark> skipped_;  ///< the others
  RunReport report_;
};

/// Claims that --only names, or all that the other options allow.
Expected<void> Audit::choose_claims() {
  for (const Claim* const claim : all_claims()) {
    const auto& only = options_.only;
    const bool named = std::ranges::find(only, claim->name) != only.end();
    if (!only.empty() && !named) continue;
    if (claim == &settings_claim && !options_.use) {
      if (named)
        return fail_usage("--only", "settings takes --for", "add --for, or leave settings out");
      continue;
    }
    claims_.push_back(claim);
  }
  return {};
}

Expected<void> Audit::prepare() {
  const std::string& recorded = measuring_options_.machine;
  auto machine = machine_of_option(recorded);
  TRY(agree(comm_, error_of(machine)));
  machine_ = *std::move(machine);
  RunOptions clock;
  clock.null_engine = measuring_options_.null_engine;
  started_ = start_time(clock);
  TRY(agree(comm_, error_of(choose_claims())));
  return agree(comm_, error_of(root() ? check_writable({{"--json", options_.json_file}},
                                                       {measuring_options_.machine})
                                      : Expected<void>{}));
}

/// The benchmarks that the claims take, as a survey of this time would run them.
Expected<void> Audit::plan() {
  std::vector<std::string>& only = measuring_options_.only;
  only.clear();
  for (const Claim* const claim : claims_)
    if (claim->applies(machine_)) add_once(only, std::string(claim->benchmark));
  // All ranks have to measure the same: the first one's.
  const std::string said = TRY(comm_.broadcast(fmt::format("{}", fmt::join(only, ","))));
  only.clear();
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find(',', at), said.size());
    only.push_back(said.substr(at, end - at));
    at = end + 1;
  }
  if (only.empty()) return {};
  for (const Claim* const claim : claims_)
    if (comm_.size() == 1 && claim->words != nullptr && claim->applies(machine_))
      if (auto words = claim->words(machine_); !words.empty())
        measuring_options_.words[claim->benchmark] = std::move(words);
  // Claims take latencies and reads: more visits to them.
  measuring_options_.words["matrix"] = {"--kernels", "read", "--mix", "none"};
  items_ = TRY(plan_survey(measuring_options_, machine_, comm_));
  return {};
}

Expected<void> Audit::measure() {
  for (const SurveyItem& item : items_)
    if (!item.skip.empty()) skipped_.push_back({item.name, item.skip});
  if (skipped_.size() == items_.size()) return {};
  MeasuringHooks hooks;
  hooks.point = [this](const std::string& benchmark, std::size_t done, std::size_t all) {
    progress_.point(benchmark, done, all);
  };
  hooks.ended = [this](const std::string& benchmark, const std::string& outcome) {
    progress_.end(benchmark, outcome);
  };
  Measuring measuring(measuring_options_, machine_, items_, comm_, std::move(hooks));
  const double before = measuring_options_.null_engine ? 0 : progress_.seconds();
  const auto ran = measuring.run(time_ - before);
  const auto concluded = measuring.conclude(ran);
  progress_.clear();
  skipped_ = measuring.skipped();
  measuring.each_report(
      [&](const Benchmark&, const RunOptions&, const RunReport& one) { results_.push_back(one); });
  return concluded;
}

void Audit::judge(const std::string& stopped) {
  AuditInput input{machine_, results_, {}};
  for (const SkippedBenchmark& one : skipped_) input.skipped[one.benchmark] = one.reason;
  input.use = options_.use;
  input.peak_share = options_.peak_share;
  std::vector<ClaimVerdict> verdicts;
  for (const Claim* const claim : claims_) {
    std::vector<ClaimVerdict> judged = claim->judge(input);
    if (judged.empty() && !options_.only.empty())
      judged.push_back(not_measurable({.about = "machine"}, "it claims nothing of this kind"));
    for (ClaimVerdict& verdict : judged) {
      verdict.claim = claim->name;
      verdicts.push_back(std::move(verdict));
    }
  }
  spare_disturbed(verdicts, results_);
  report_ = report_of(std::move(verdicts));
  report_.arguments = measuring_options_.arguments;
  report_.started = started_;
  report_.seconds = measuring_options_.null_engine ? 0 : progress_.seconds();
  report_.time_cap = time_;
  report_.time_of_all = true;
  report_.complete = stopped.empty();
  report_.incomplete_reason = stopped;
  report_.comm = comm_.description();
  report_.ranks = comm_.size();
  report_.engine = results_.empty() ? "none" : results_.front().engine;
  report_.hosts = results_.empty() ? std::vector{machine_.host} : results_.front().hosts;
  report_.machines = results_.empty() ? std::vector{machine_} : results_.front().machines;
  const Trust trust = trust_of(results_);
  report_.trust = trust.grade;
  report_.doubt = trust.doubt;
  for (const SkippedBenchmark& one : skipped_)
    report_.warnings.push_back(
        {"not-run", "", fmt::format("{} did not run: {}", one.benchmark, one.reason)});
}

nlohmann::json Audit::plan_json() const {
  nlohmann::json plan{{"claims", nlohmann::json::array()}, {"benchmarks", nlohmann::json::array()}};
  for (const Claim* const claim : claims_)
    plan["claims"].push_back({{"claim", claim->name},
                              {"summary", claim->summary},
                              {"benchmark", claim->applies(machine_) ? claim->benchmark : ""}});
  for (const SurveyItem& item : items_)
    plan["benchmarks"].push_back({{"benchmark", item.benchmark},
                                  {"arguments", item.words},
                                  {"seconds", item.share},
                                  {"skipped", item.skip}});
  return plan;
}

Expected<void> Audit::show_plan() const {
  if (options_.format == "json") return write_stdout(pretty(plan_json()));
  std::string text;
  for (const Claim* const claim : claims_)
    text += fmt::format("{:<9} {} [{}]\n", claim->name, claim->summary,
                        claim->applies(machine_) ? claim->benchmark : "nothing is measured");
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
  if (!options_.json_file.empty())
    TRY(write_whole(options_.json_file, json_text(report_, results_), "--json"));
  TextStyle style;
  style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  return write_stdout(options_.format == "json" ? json_text(report_, results_)
                                                : text_in(options_.format, report_, style));
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
    judge(full_text(measured.error()));
    TRY(write());
    return fail(measured.error());
  }
  if (root()) judge("");
  TRY(agree(comm_, error_of(root() ? write() : Expected<void>{})));
  if (!root()) return 0;
  const int code = exit_code_of_audit(report_);
  return code == exit_code_of_unjudged_nodes && options_.measuring.strict ? 1 : code;
}

}  // namespace

RunReport report_of(std::vector<ClaimVerdict> verdicts) {
  // What somebody has to do something about comes first.
  std::ranges::stable_sort(verdicts, std::ranges::greater(), [](const ClaimVerdict& verdict) {
    return verdict.outcome == ClaimOutcome::contradicted;
  });
  RunReport report;
  report.command = "audit";
  report.version = version;
  report.answer = answer_of(verdicts);
  for (const ClaimVerdict& verdict : verdicts) report.cases.push_back(case_of(verdict));
  if (verdicts.empty()) return report;
  View view{.title = "Claims"};
  view.cells = {label_column("verdict", "verdict"), label_column("claim", "claim"),
                label_column("about", "about"), label_column("evidence", "evidence")};
  report.views = {view};
  return report;
}

int exit_code_of_audit(const RunReport& report) {
  if (!distrust_of(report).empty()) return exit_code_of_unjudged_nodes;
  bool judged = false;
  for (const Case& one : report.cases) {
    if (label_of(one, "verdict") == name_of(ClaimOutcome::contradicted)) return 1;
    judged = judged || one.status == Status::ok;
  }
  return judged ? 0 : exit_code(ErrorKind::unavailable);
}

Expected<int> run_audit(const AuditOptions& options, Comm& comm) {
  return Audit(options, comm).go();
}

}  // namespace numatlas

#include "survey/survey.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/pretty_json.h"
#include "base/say.h"
#include "base/text.h"
#include "benchmarks/runner.h"
#include "engine/agreement.h"
#include "machine/source.h"
#include "report/file.h"
#include "report/topology_table.h"
#include "survey/document.h"
#include "survey/progress.h"
#include "survey/share.h"
#include "survey/summary.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

Expected<void> make_folder(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    return fail_about(file_error_kind(code.value()), "--output",
                      fmt::format("{}: {}", folder, code.message()),
                      "name a folder that can be made");
  }
  return check_writable((fs::path(folder) / "survey.json").string(), "--output");
}

/// Results of an earlier survey in the same folder, which this one may not write anew. Its own
/// survey.json is there already.
void remove_earlier(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(folder / "report.html", ignored);
  for (const std::string& name : names_of_survey()) {
    for (const char* const suffix : {".json", ".txt"})
      fs::remove(folder / (name + suffix), ignored);
  }
}

// What was foreseen is wrong by a factor now and then; with less than this part of it the time
// would not be kept at all.
constexpr double least_part = 0.25;

/// A case was measured to its end.
bool has_figures(const RunReport& report) {
  return std::any_of(report.scenarios.begin(), report.scenarios.end(), [](const auto& one) {
    return one.status == Status::ok && !one.flows.empty();
  });
}

/// One survey in progress on one rank.
class Survey {
 public:
  Survey(const SurveyOptions& options, Comm& comm, const SurveyHooks& hooks)
      : comm_(comm),
        hooks_(hooks),
        seconds_asked_(std::chrono::duration<double>(options.time).count()),
        progress_(comm.rank() == 0 && !options.quiet && !options.dry_run, seconds_asked_) {
    record_.options = options;
    RunOptions clock;
    clock.null_engine = options.null_engine;
    record_.started = start_time(clock);
  }

  Expected<void> go();

 private:
  Expected<void> prepare();
  Expected<void> show_plan() const;
  Expected<void> run_all();
  Expected<void> run_item(std::size_t index);
  Expected<double> share_of(std::size_t index);
  Expected<void> measure(std::size_t index);
  Expected<void> begin_folder();
  Expected<void> write(const char* file, const std::string& text) const;
  Expected<void> save(bool complete, const std::string& reason);
  Expected<void> end(const std::optional<Error>& problem);
  std::vector<std::string> notes() const;
  std::string not_run() const;
  std::string path(const std::string& file) const {
    return (fs::path(record_.options.folder) / file).string();
  }
  double seconds() const { return record_.options.null_engine ? 0 : progress_.seconds(); }
  bool root() const { return comm_.rank() == 0; }

  Comm& comm_;
  const SurveyHooks& hooks_;
  double seconds_asked_;
  SurveyProgress progress_;
  SurveyRecord record_;
  std::set<std::size_t> begun_;
  bool earlier_ = false;       ///< the folder has the results of an earlier survey
  bool folder_begun_ = false;  ///< it has those of this one
  double used_ = 0;            ///< shares, where the null engine's clock is the plan's
};

Expected<void> Survey::write(const char* file, const std::string& text) const {
  return write_whole(path(file), text, "--output");
}

/// The machine, the folder, the plan. What is wrong is found out before anything is measured.
Expected<void> Survey::prepare() {
  const SurveyOptions& options = record_.options;
  auto machine =
      options.machine.empty() ? read_live_machine() : read_recorded_machine(options.machine);
  if (auto agreed = agree(comm_, error_of(machine)); !agreed) return agreed;
  record_.machine = *std::move(machine);
  auto items = plan_survey(options, record_.machine, comm_);
  if (!items) return fail(items.error());
  record_.items = *std::move(items);
  record_.taken.assign(record_.items.size(), 0);
  for (const SurveyItem& item : record_.items) {
    if (!item.skip.empty()) record_.skipped.push_back({item.benchmark, item.skip});
  }
  if (std::none_of(record_.items.begin(), record_.items.end(),
                   [](const SurveyItem& item) { return item.skip.empty(); })) {
    std::vector<std::string> reasons;
    for (const SkippedBenchmark& one : record_.skipped)
      reasons.push_back(one.benchmark + ": " + one.reason);
    return fail_about(ErrorKind::unavailable, "survey",
                      fmt::format("nothing can be measured here: {}", fmt::join(reasons, "; ")));
  }
  if (options.dry_run) return {};
  Expected<void> made;
  if (root()) {
    made = make_folder(options.folder);
    std::error_code ignored;
    earlier_ = fs::exists(path("survey.json"), ignored);
    if (made && !earlier_) made = begin_folder();
  }
  return agree(comm_, error_of(made));
}

/// The first files; those of an earlier survey, which stay until this one has a figure, are
/// removed.
Expected<void> Survey::begin_folder() {
  if (folder_begun_) return {};
  // Where this fails, the earlier results are as they were.
  if (auto saved = save(false, "not ended"); !saved) return saved;
  folder_begun_ = true;
  if (earlier_) {
    remove_earlier(record_.options.folder);
    if (!record_.options.quiet)
      say("removed the results of an earlier survey in " + record_.options.folder + "\n");
  }
  auto made = write("topology.txt", topology_table(record_.machine, false));
  if (made) made = write("topology.json", pretty(to_json(record_.machine)));
  return made;
}

Expected<void> Survey::show_plan() const {
  std::string text = topology_table(record_.machine, false) + "\n";
  for (const SurveyItem& item : record_.items) {
    if (!item.skip.empty()) continue;
    std::string line = fmt::format("$ numatlas {}", item.benchmark);
    for (const std::string& word : item.words) line += " " + shell_word(word);
    text += line + fmt::format("\n{:.1f} s of {:g} s", item.share, seconds_asked_);
    if (item.least_time > item.share)
      text += fmt::format("; about {:.0f} s are foreseen", item.least_time);
    text += item.left_out.empty() ? "\n" : fmt::format("; no time for: {}\n", item.left_out);
    text += item.plan + "\n";
  }
  for (const SkippedBenchmark& one : record_.skipped)
    text += fmt::format("skipped: {}: {}\n", one.benchmark, one.reason);
  return write_stdout(text);
}

/// Seconds for an item, the same on every rank.
Expected<double> Survey::share_of(std::size_t index) {
  std::vector<double> worths;
  for (std::size_t i = index; i < record_.items.size(); ++i) {
    const SurveyItem& item = record_.items[i];
    worths.push_back(item.skip.empty() ? item.worth : 0);
  }
  const double spent = record_.options.null_engine ? used_ : progress_.seconds();
  const double share = next_share(seconds_asked_ - spent, worths);
  if (comm_.size() == 1) return share;
  const auto said = comm_.broadcast(fmt::format("{}", share));
  if (!said) return fail(said.error());
  return std::stod(*said);
}

/// Runs a benchmark; its report is kept also where it was stopped in the middle.
Expected<void> Survey::measure(std::size_t index) {
  const SurveyItem& item = record_.items[index];
  auto parsed = parse_item(item, record_.options, item.share);
  if (!parsed) return fail(parsed.error());
  std::string table;
  std::size_t points = 0;
  RunHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t all) {
    points = all;
    progress_.point(item.benchmark, done, all);
  };
  hooks.table = [&](const RunReport& report) {
    table = parsed->benchmark->table(report, parsed->options);
    record_.reports.push_back(report);
    return std::string();
  };
  begun_.insert(index);
  const double before = seconds();
  const auto ran = run_benchmark(*parsed->benchmark, parsed->options, comm_, hooks);
  record_.taken[index] = seconds() - before;
  std::optional<Error> problem = error_of(ran);
  if (root() && !table.empty()) {
    const RunReport& report = record_.reports.back();
    auto wrote = report.complete || has_figures(report) ? begin_folder() : Expected<void>{};
    if (wrote && folder_begun_) wrote = write((item.benchmark + ".txt").c_str(), table);
    if (!problem) problem = error_of(wrote);
  }
  if (!ran) return fail(*problem);
  if (auto agreed = agree(comm_, problem); !agreed) return agreed;
  progress_.end(item.benchmark, fmt::format("{} point{} done", points, points == 1 ? "" : "s"));
  return {};
}

Expected<void> Survey::run_item(std::size_t index) {
  SurveyItem& item = record_.items[index];
  const auto share = share_of(index);
  if (!share) return fail(share.error());
  item.share = *share;
  used_ += *share;
  // Earlier benchmarks took more or less time than foreseen, so less or more is left for this one.
  if (auto chosen = choose_way(item, record_.options, record_.machine, comm_); !chosen)
    return chosen;
  if (item.skip.empty() && !begun_.empty() && item.share < least_part * item.least_time) {
    item.skip = fmt::format("no time is left: it takes about {:.1f} s at least", item.least_time);
  }
  if (!item.skip.empty()) {
    progress_.end(item.benchmark, "skipped: " + item.skip);
    record_.skipped.push_back({item.benchmark, item.skip});
    return {};
  }
  const auto done = measure(index);
  if (done) return {};
  // The folder is that of the others' files too.
  if (!is_not_for_here(done.error()) || is_about(done.error(), "--output")) return done;
  progress_.end(item.benchmark, "skipped: " + full_text(done.error()));
  record_.skipped.push_back({item.benchmark, reason_of(item, done.error())});
  return {};
}

Expected<void> Survey::save(bool complete, const std::string& reason) {
  record_.seconds = seconds();
  record_.complete = complete;
  record_.incomplete_reason = reason;
  record_.notes = notes();
  return write("survey.json", document_text(record_, summary_of(record_.reports)));
}

Expected<void> Survey::run_all() {
  for (std::size_t i = 0; i < record_.items.size(); ++i) {
    if (!record_.items[i].skip.empty()) continue;
    if (auto done = run_item(i); !done) return done;
    const auto saved = folder_begun_ ? save(false, "not ended") : Expected<void>{};
    if (auto agreed = agree(comm_, error_of(saved)); !agreed) return agreed;
  }
  return {};
}

/// What the time was too short for, and where it was not kept.
std::vector<std::string> Survey::notes() const {
  std::vector<std::string> notes;
  const double taken = record_.seconds;
  const auto& items = record_.items;
  const auto over = [&](std::size_t i) { return record_.taken[i] - items[i].planned_share; };
  // Nobody misses a second or two, and the last point is never cut.
  constexpr double much_longer = 1.1;
  if (taken > much_longer * seconds_asked_ && !items.empty()) {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (over(i) > over(worst)) worst = i;
    }
    notes.push_back(fmt::format(
        "took {:.0f} s instead of {:.0f} s: {} alone {:.0f} s instead of {:.0f} s, as {}", taken,
        seconds_asked_, items[worst].benchmark, record_.taken[worst], items[worst].planned_share,
        items[worst].least_time > items[worst].planned_share
            ? "the least that it can do takes longer"
            : "getting its memory ready and warm took longer than was foreseen: a busy machine?"));
  } else if (taken > 0) {
    notes.push_back(fmt::format("took {:.0f} s of {:g} s", taken, seconds_asked_));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const SurveyItem& item = items[i];
    if (item.skip.empty() && !item.left_out.empty() && begun_.contains(i))
      notes.push_back(fmt::format("{}: no time for {}", item.benchmark, item.left_out));
  }
  if (!record_.reports.empty() && record_.reports.front().hosts.size() > 1)
    notes.push_back(
        fmt::format("{} hosts: machine and nodes are those of the first, figures are "
                    "medians over all",
                    record_.reports.front().hosts.size()));
  for (const RunReport& report : record_.reports) {
    const bool has_results =
        std::any_of(report.scenarios.begin(), report.scenarios.end(),
                    [](const ScenarioResult& point) { return point.status == Status::ok; });
    if (has_results && report.facts.empty())
      notes.push_back(
          fmt::format("{0}: nothing of it is in the summary, such as no size beyond the "
                      "caches; {0}.txt has what there is",
                      report.command));
  }
  if (record_.options.null_engine)
    notes.insert(notes.begin(), "null engine: a scripted clock; nothing was measured");
  return notes;
}

/// "; not run: loaded, cores".
std::string Survey::not_run() const {
  std::string names;
  for (std::size_t i = 0; i < record_.items.size(); ++i) {
    const SurveyItem& item = record_.items[i];
    if (item.skip.empty() && !begun_.contains(i))
      names += (names.empty() ? "; not run: " : ", ") + item.benchmark;
  }
  return names;
}

/// Files and summary, also after a stop. The first error counts.
Expected<void> Survey::end(const std::optional<Error>& error) {
  std::optional<Error> problem = error;
  progress_.clear();
  if (!problem) problem = error_of(begin_folder());
  const auto saved =
      folder_begun_ ? save(!problem, problem ? full_text(*problem) : "") : Expected<void>{};
  if (!problem) problem = error_of(saved);
  if (!folder_begun_) {
    record_.seconds = seconds();
    record_.notes = notes();
  }
  SurveyFrame around{
      problem ? full_text(*problem) + not_run() : "", record_.notes, record_.skipped, {}};
  std::error_code unresolved;
  const fs::path resolved = fs::weakly_canonical(record_.options.folder, unresolved);
  const std::string folder = unresolved ? record_.options.folder : resolved.string();
  if (!folder_begun_) {
    around.files.push_back(folder + ": still holds the earlier survey: this one finished no case");
  } else if (saved) {
    around.files.push_back(fmt::format(
        "{}: survey.json holds all results; a table of each benchmark beside it", folder));
    if (!problem && record_.options.html && hooks_.report)
      around.files.push_back(hooks_.report(path("survey.json"), path("report.html")));
  }
  const SurveySummary summary = summary_of(record_.reports);
  const auto shown = write_stdout(summary_text(record_.machine, summary, around));
  if (!problem) problem = error_of(shown);
  if (problem) return fail(*problem);
  return {};
}

Expected<void> Survey::go() {
  if (auto ready = prepare(); !ready) return ready;
  if (record_.options.dry_run) {
    const auto shown = root() ? show_plan() : Expected<void>{};
    return agree(comm_, error_of(shown));
  }
  const auto ran = run_all();
  if (!root()) return ran ? agree(comm_, std::nullopt) : ran;
  const auto ended = end(error_of(ran));
  // After an error the others do not wait for this one any more.
  return ran ? agree(comm_, error_of(ended)) : ended;
}

}  // namespace

Expected<void> run_survey(const SurveyOptions& options, Comm& comm, const SurveyHooks& hooks) {
  return Survey(options, comm, hooks).go();
}

}  // namespace numatlas

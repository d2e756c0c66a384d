#include "survey/survey.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
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
#include "benchmarks/check_options.h"
#include "benchmarks/runner.h"
#include "benchmarks/session.h"
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
                      "name a folder that can be created");
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
  /// What a part of the session refers to.
  struct Taken {
    std::size_t item = 0;
    ParsedRun run;
    RunHooks hooks;
    SessionPart* part = nullptr;
  };

  Expected<void> prepare();
  Expected<void> show_plan() const;
  Expected<void> run_all();
  Expected<void> run_item(std::size_t index);
  Expected<double> agreed(double mine);
  Expected<double> share_of(std::size_t index);
  Expected<void> measure(std::size_t index);
  Expected<void> visited();
  std::optional<Error> find_wrong() const;
  void take_reports();
  Expected<void> write_tables();
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
  std::deque<Taken> taken_;  ///< stays where it is: the session refers to it
  std::optional<Session> session_;
  std::set<std::size_t> begun_;
  std::chrono::steady_clock::time_point next_save_;
  bool earlier_ = false;       ///< the folder has the results of an earlier survey
  bool folder_begun_ = false;  ///< it has those of this one
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
    if (item.least_time > item.share) text += fmt::format("; estimated {:.0f} s", item.least_time);
    text += item.left_out.empty() ? "\n" : fmt::format("; no time for: {}\n", item.left_out);
    text += item.plan + "\n";
  }
  for (const SkippedBenchmark& one : record_.skipped)
    text += fmt::format("skipped: {}: {}\n", one.benchmark, one.reason);
  return write_stdout(text);
}

/// What rank 0 says.
Expected<double> Survey::agreed(double mine) {
  if (comm_.size() == 1) return mine;
  const auto said = comm_.broadcast(fmt::format("{}", mine));
  if (!said) return fail(said.error());
  return std::stod(*said);
}

/// Seconds for an item, the same on every rank: of what is not spent, nor kept for the benchmarks
/// that have their first values.
Expected<double> Survey::share_of(std::size_t index) {
  std::vector<double> worths;
  for (std::size_t i = index; i < record_.items.size(); ++i) {
    const SurveyItem& item = record_.items[i];
    worths.push_back(item.skip.empty() ? item.worth : 0);
  }
  session_->reserve({});
  return agreed(next_share(session_->free_time().count(), worths));
}

/// Gives every point of a benchmark its first value.
Expected<void> Survey::measure(std::size_t index) {
  const SurveyItem& item = record_.items[index];
  auto parsed = parse_item(item, record_.options, item.share);
  if (!parsed) return fail(parsed.error());
  taken_.push_back({index, *std::move(parsed), {}});
  Taken& taken = taken_.back();
  taken.hooks.progress = [this, index](std::size_t done, std::size_t all) {
    progress_.point(record_.items[index].benchmark, done, all);
  };
  begun_.insert(index);
  auto setup = set_up(*taken.run.benchmark, taken.run.options, comm_);
  if (!setup) return fail(setup.error());
  const std::size_t parts = session_->parts().size();
  auto added = session_->add(*taken.run.benchmark, taken.run.options, taken.hooks,
                             *std::move(setup), Session::Seconds(item.share));
  if (session_->parts().size() > parts) taken.part = session_->parts().back().get();
  if (!added) return added;
  if (const auto skip = taken.part->skip_that_counts()) return fail(*skip);
  const std::size_t points = taken.part->points().size();
  progress_.end(item.benchmark,
                fmt::format("{} point{} measured once", points, points == 1 ? "" : "s"));
  return {};
}

Expected<void> Survey::run_item(std::size_t index) {
  SurveyItem& item = record_.items[index];
  const auto share = share_of(index);
  if (!share) return fail(share.error());
  item.share = *share;
  const auto slower = agreed(session_->slower());
  if (!slower) return fail(slower.error());
  // The first values may take more than their share: later rounds have less then.
  constexpr double more_than_share = 1.5;
  item.slower = std::max(1.0, *slower / more_than_share);
  // Earlier benchmarks took more or less time than foreseen, so less or more is left for this one.
  if (auto chosen = choose_way(item, record_.options, record_.machine, comm_); !chosen)
    return chosen;
  item.share = kept_share(item.share, item.planned_share, item.least_time);
  const double others = session_->free_time().count() - item.share;
  session_->reserve(Session::Seconds(std::max(0.0, others)));
  if (item.skip.empty() && !begun_.empty() && is_too_little(item.share, item.least_time)) {
    item.skip = fmt::format("no time left: it requires at least about {:.1f} s", item.least_time);
  }
  if (!item.skip.empty()) {
    progress_.end(item.benchmark, "skipped: " + item.skip);
    record_.skipped.push_back({item.benchmark, item.skip});
    return {};
  }
  const auto done = measure(index);
  if (done) return {};
  if (!is_not_for_here(done.error())) return done;
  if (SessionPart* const part = taken_.back().part; part != nullptr) part->give_up(done.error());
  progress_.end(item.benchmark, "skipped: " + full_text(done.error()));
  record_.skipped.push_back({item.benchmark, reason_of(item, done.error())});
  return {};
}

/// After a visit. Only rank 0 writes; all must hear of it when it cannot.
Expected<void> Survey::visited() {
  Expected<void> saved;
  const auto begun = std::chrono::steady_clock::now();
  if (root() && folder_begun_ && begun >= next_save_) {
    for (const Taken& taken : taken_) {
      if (taken.part == nullptr) continue;
      taken.part->update(session_->pilots());
      taken.part->describe();
    }
    take_reports();
    saved = save(false, "not ended");
    // That may take a twentieth of the time.
    const auto ended = std::chrono::steady_clock::now();
    next_save_ = ended + 20 * (ended - begun);
  }
  return agree(comm_, error_of(saved));
}

/// What a kernel gave that was not what it should be; rank 0 knows.
std::optional<Error> Survey::find_wrong() const {
  for (const Taken& taken : taken_) {
    if (taken.part != nullptr && taken.part->wrong()) return taken.part->wrong();
  }
  return std::nullopt;
}

/// Those that say something, as they are.
void Survey::take_reports() {
  record_.reports.clear();
  for (const Taken& taken : taken_) {
    const SessionPart* const part = taken.part;
    if (part == nullptr) continue;
    record_.taken[taken.item] = part->spent().count();
    if (part->has_results() || !part->skipped()) record_.reports.push_back(part->report());
  }
}

Expected<void> Survey::write_tables() {
  for (const Taken& taken : taken_) {
    const SessionPart* const part = taken.part;
    if (part == nullptr || !(part->has_results() || !part->skipped())) continue;
    const std::string table = taken.run.benchmark->text(part->report(), taken.run.options);
    if (auto wrote = write((part->report().command + ".txt").c_str(), table); !wrote) return wrote;
  }
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
  const double time = seconds_asked_ - seconds();
  session_.emplace(comm_,
                   SessionOptions{Session::Seconds(time),
                                  {},
                                  0,
                                  RunOptions().seed,
                                  true,
                                  true,
                                  record_.options.null_engine,
                                  {}},
                   [this](SessionPart&) { return visited(); });
  for (std::size_t i = 0; i < record_.items.size(); ++i) {
    if (!record_.items[i].skip.empty()) continue;
    if (auto done = run_item(i); !done) return done;
    Expected<void> begun;
    const bool measured = std::any_of(taken_.begin(), taken_.end(), [](const Taken& taken) {
      return taken.part != nullptr && has_figures(taken.part->report());
    });
    if (root() && measured) {
      begun = begin_folder();
      next_save_ = {};
    }
    if (auto agreed = agree(comm_, error_of(begun)); !agreed) return agreed;
  }
  session_->reserve({});
  const auto finished = session_->finish();
  if (finished && session_->rounds() > 1)
    progress_.end("all", fmt::format("{} rounds over all points", session_->rounds()));
  return finished;
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
        "took {:.0f} s instead of {:.0f} s: {} alone took {:.0f} s instead of {:.0f} s, because {}",
        taken, seconds_asked_, items[worst].benchmark, record_.taken[worst],
        items[worst].planned_share,
        items[worst].least_time > items[worst].planned_share
            ? "its shortest run takes longer"
            : "allocation and warm-up exceeded the estimate; is the machine busy?"));
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
          fmt::format("{0}: no figure for the summary (for example no size larger than the "
                      "caches); see {0}.txt",
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
  take_reports();
  const bool measured = std::any_of(record_.reports.begin(), record_.reports.end(), has_figures);
  const auto begun = !problem || measured ? begin_folder() : Expected<void>{};
  if (!problem) problem = error_of(begun);
  const auto tables = folder_begun_ ? write_tables() : Expected<void>{};
  if (!problem) problem = error_of(tables);
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
    around.files.push_back(folder +
                           ": still holds the earlier survey, because this one finished no case");
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
  auto ran = run_all();
  ran = session_->conclude(ran);
  const auto wrong = find_wrong();
  if (ran) {
    ran = agree(comm_, wrong);
  } else if (wrong && wrong->kind == ran.error().kind) {
    ran = fail(*wrong);
  }
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

#include "survey/survey.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/add_once.h"
#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "gpu/machine_gpus.h"
#include "machine/source.h"
#include "published/normal.h"
#include "record/headline.h"
#include "record/report_fields.h"
#include "record/report_json.h"
#include "report/answer.h"
#include "report/file.h"
#include "report/notes.h"
#include "report/topology_table.h"
#include "run/place_words.h"
#include "run/runner.h"
#include "selftest/selftest.h"
#include "survey/measuring.h"
#include "survey/plan.h"
#include "survey/summary.h"

namespace numatlas {
namespace {

/// All that a survey knows so far.
struct SurveyRecord {
  SurveyOptions options;
  Machine machine;
  std::string started;
  double seconds = 0;
  bool complete = false;
  std::string incomplete_reason = "not ended";
  std::vector<SurveyItem> items;
  std::vector<double> taken;       ///< seconds of each item; 0: not run
  std::vector<RunReport> reports;  ///< without samples, of the items that ran
  std::vector<SkippedBenchmark> skipped;
  std::vector<std::string> notes;  ///< where the time was not kept, what it was too short for
};

using nlohmann::json;

json optional_text(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json plan_of(const SurveyRecord& record) {
  json plan = json::array();
  for (std::size_t i = 0; i < record.items.size(); ++i) {
    const SurveyItem& item = record.items[i];
    if (!item.skip.empty()) continue;
    plan.push_back({{"benchmark", item.benchmark},
                    {"arguments", item.words},
                    {"share", item.share},
                    {"seconds", record.taken[i]},
                    {"left_out", optional_text(item.left_out)}});
  }
  return plan;
}

/// The whole object, ending in a newline (docs/results.md describes it). Pure.
std::string document_text(const SurveyRecord& record, const SurveySummary& summary) {
  json skipped = json::array();
  for (const SkippedBenchmark& one : record.skipped)
    skipped.push_back({{"benchmark", one.benchmark}, {"reason", one.reason}});
  const Trust trust = trust_of(record.reports);
  json document = {
      {"schema_version", schema_version},
      {"program", "numatlas"},
      {"command", "survey"},
      {"version", version},
      {"arguments", record.options.arguments},
      {"started", record.started},
      {"seconds", record.seconds},
      {"time_asked", std::chrono::duration<double>(record.options.time).count()},
      {"complete", record.complete},
      {"incomplete_reason", optional_text(record.incomplete_reason)},
      {"machine", to_json(record.machine)},
      {"plan", plan_of(record)},
      {"results", nullptr},
      {"skipped", std::move(skipped)},
      {"notes", record.notes},
      {"normal", normal_in_json(record.reports, record.options.machine_type)},
      {"headlines", fields::to_json(headlines_of(record.reports, trust.grade == "unreliable"))},
      {"warnings", summary.warnings}};
  if (!trust.grade.empty()) {
    document["trust"] = trust.grade;
    document["doubt"] = optional_text(trust.doubt);
  }
  return pretty_part(document, 0, {results_member(record.reports)}) + '\n';
}

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

/// The document of a survey in a folder; null where there is none.
json stored_survey(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return nullptr;  // reading a pipe would wait
  std::ifstream text(file);
  json document = json::parse(text, nullptr, false);
  return document.is_object() ? document : json(nullptr);
}

/// Benchmarks that an earlier survey has results of, and this one does not have among `names`.
std::vector<std::string> only_there(const json& earlier, const std::vector<std::string>& names) {
  std::vector<std::string> lost;
  if (!earlier.contains("results")) return lost;
  for (const json& report : earlier["results"]) {
    const auto found = report.find("command");
    if (found == report.end() || !found->is_string()) continue;
    RunHead run;
    run.command = found->get<std::string>();
    for (const json& word : report.value("arguments", json()))
      if (word.is_string()) run.arguments.push_back(word.get<std::string>());
    const std::string name = name_in_survey(run);
    if (std::ranges::find(names, name) == names.end()) add_once(lost, name);
  }
  return lost;
}

/// The folder, which may have a survey that this one replaces: not one of more benchmarks than are
/// asked for, unless it is forced. One that this machine no longer runs does not stop it: the
/// earlier survey is kept.
Expected<void> prepare_folder(const SurveyOptions& options, const std::vector<SurveyItem>& items) {
  TRY(make_folder(options.folder));
  if (options.force) return {};
  std::vector<std::string> names;
  for (const SurveyItem& item : items) names.push_back(item.name);
  const auto lost = only_there(stored_survey(fs::path(options.folder) / "survey.json"), names);
  if (lost.empty()) return {};
  return fail_usage("--output",
                    fmt::format("{} holds a survey of more benchmarks ({})", options.folder,
                                fmt::join(lost, ", ")),
                    "name another folder with --output, or replace it with --force");
}

/// Results of an earlier survey in the same folder, which this one may not write anew. Its own
/// survey.json is there already.
void remove_earlier(const fs::path& folder) {
  std::error_code ignored;
  for (const char* const file : {"report.html", "topology.xml"}) fs::remove(folder / file, ignored);
  for (const std::string& name : names_of_survey()) {
    for (const char* const suffix : {".json", ".txt"})
      fs::remove(folder / (name + suffix), ignored);
  }
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

  Expected<int> go();

 private:
  Expected<void> prepare();
  Expected<void> show_plan() const;
  Expected<void> check_itself();
  Expected<void> run_all();
  Expected<void> visited();
  Expected<void> item_begun();
  bool has_page() const { return record_.options.html && hooks_.has_report; }
  double ending(std::size_t cases) const;
  void take_reports();
  Expected<void> write_tables();
  Expected<void> begin_folder();
  Expected<void> keep_earlier();
  std::string drop_earlier();
  Expected<void> write(const std::string& file, const std::string& text) const;
  Expected<void> save(bool complete, const std::string& reason);
  Expected<void> end(const std::optional<Error>& problem);
  std::vector<std::string> notes() const;
  std::string not_run() const;
  std::string path(const std::string& file) const {
    return (fs::path(record_.options.folder) / file).string();
  }
  double seconds() const { return record_.options.null_engine ? 0 : progress_.seconds(); }
  bool root() const { return comm_.rank() == 0; }
  bool has_begun(std::size_t item) const { return measuring_ && measuring_->has_begun(item); }

  Comm& comm_;
  const SurveyHooks& hooks_;
  double seconds_asked_;
  SurveyProgress progress_;
  SurveyRecord record_;
  std::optional<Measuring> measuring_;
  std::chrono::steady_clock::time_point next_save_;
  double saving_ = 0;                       ///< seconds that the last save took
  std::vector<std::string> failed_checks_;  ///< of the quick part of selftest; on rank 0
  bool earlier_ = false;                    ///< the folder has the results of an earlier survey
  std::string kept_;                        ///< the file that these are kept in meanwhile
  std::vector<std::string> earlier_names_;  ///< of its benchmarks
  bool folder_begun_ = false;               ///< it has those of this one
};

Expected<void> Survey::write(const std::string& file, const std::string& text) const {
  return write_whole(path(file), text, "--output");
}

/// The machine, the folder, the plan. What is wrong is found out before anything is measured.
Expected<void> Survey::prepare() {
  const SurveyOptions& options = record_.options;
  auto machine = machine_of_option(options.machine);
  TRY(agree(comm_, error_of(machine)));
  record_.machine = *std::move(machine);
  record_.items = TRY(plan_survey(options, record_.machine, comm_));
  // As their drivers number and name them; without one they stay as the PCI bus shows them.
  const bool with_gpus = std::any_of(
      record_.items.begin(), record_.items.end(),
      [](const SurveyItem& item) { return item.benchmark == "transfer" && item.skip.empty(); });
  if (with_gpus)
    (void)add_devices(record_.machine, record_.machine.is_live() && !options.null_engine);
  record_.taken.assign(record_.items.size(), 0);
  for (const SurveyItem& item : record_.items) {
    if (!item.skip.empty()) record_.skipped.push_back({item.name, item.skip});
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
    made = prepare_folder(options, record_.items);
    std::error_code ignored;
    earlier_ = fs::exists(path("survey.json"), ignored);
    if (made && !earlier_) made = begin_folder();
  }
  return agree(comm_, error_of(made));
}

/// Copies the earlier survey.json, named by its start: this survey may end without a benchmark that
/// the earlier one has. It stays where this program is killed.
Expected<void> Survey::keep_earlier() {
  const json earlier = stored_survey(path("survey.json"));
  earlier_names_ = only_there(earlier, {});
  if (record_.options.force || earlier_names_.empty()) return {};
  std::string name = "earlier";
  if (const auto started = earlier.find("started");
      started != earlier.end() && started->is_string())
    name = started->get<std::string>();
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  const std::string file = path("survey-" + name + ".json");
  std::error_code code;
  fs::copy_file(path("survey.json"), file, fs::copy_options::overwrite_existing, code);
  if (code)
    return fail_about(file_error_kind(code.value()), "--output",
                      fmt::format("{}: {}", file, code.message()));
  kept_ = file;
  return {};
}

/// Removes that copy where this survey has results of the same benchmarks, else says what it has.
std::string Survey::drop_earlier() {
  if (kept_.empty()) return "";
  std::vector<std::string> lost = earlier_names_;
  for (const RunReport& report : record_.reports) std::erase(lost, name_in_survey(report));
  std::error_code ignored;
  if (lost.empty()) {
    fs::remove(kept_, ignored);
    return "";
  }
  return fmt::format("{}: the earlier survey, as this one has no result of {}", kept_,
                     fmt::join(lost, ", "));
}

/// The first files; those of an earlier survey, which stay until this one has a figure, are
/// removed.
Expected<void> Survey::begin_folder() {
  if (folder_begun_) return {};
  // Where this fails, the earlier results are as they were.
  if (earlier_) TRY(keep_earlier());
  TRY(save(false, "not ended"));
  folder_begun_ = true;
  if (earlier_) {
    remove_earlier(record_.options.folder);
    if (!record_.options.quiet)
      say("removed the results of an earlier survey in " + record_.options.folder + "\n");
  }
  auto made = write("topology.txt", topology_table(record_.machine, false));
  if (made) made = write("topology.json", pretty(to_json(record_.machine)));
  const auto xml = hwloc_xml(record_.options.machine);  // a snapshot has none
  if (made && xml) made = write("topology.xml", *xml);
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

/// After a visit. Only rank 0 writes; all must hear of it when it cannot.
Expected<void> Survey::visited() {
  Expected<void> saved;
  const auto begun = std::chrono::steady_clock::now();
  if (root() && folder_begun_ && begun >= next_save_) {
    measuring_->describe();
    take_reports();
    saved = save(false, "not ended");
    // That may take a twentieth of the time.
    const auto ended = std::chrono::steady_clock::now();
    next_save_ = ended + 20 * (ended - begun);
    saving_ = std::chrono::duration<double>(ended - begun).count();
  }
  return agree(comm_, error_of(saved));
}

/// Seconds from the last visit to the end, as estimated: memory is given back, the reports are
/// completed and written, and the page is made.
double Survey::ending(std::size_t cases) const {
  if (record_.options.null_engine) return 0;
  // Of a usual server of these years; of the page, most is to start Python.
  constexpr double give_back = 0.2, start_page = 1, page_of_case = 0.003;
  // The reports are completed and drawn as tables, and then saved.
  constexpr double saves = 2;
  const double page = has_page() ? start_page + page_of_case * static_cast<double>(cases) : 0;
  // Figures are worth more than that a short time is kept.
  constexpr double most = 0.25;
  return std::min(most * seconds_asked_, give_back + saves * saving_ + page);
}

/// After the first values of a benchmark.
Expected<void> Survey::item_begun() {
  Expected<void> begun;
  if (root() && measuring_->has_figures()) begun = begin_folder();
  return agree(comm_, error_of(begun));
}

/// Those that say something, as they are.
void Survey::take_reports() {
  record_.reports.clear();
  record_.taken = measuring_->taken();
  record_.skipped = measuring_->skipped();
  measuring_->each_report([&](const Benchmark&, const RunOptions&, const RunReport& report) {
    record_.reports.push_back(report);
  });
}

Expected<void> Survey::write_tables() {
  Expected<void> wrote;
  measuring_->each_report(
      [&](const Benchmark& benchmark, const RunOptions& options, const RunReport& report) {
        RunOptions whole = options;
        whole.style.all_notes = true;
        whole.style.color = false;  // a file is no terminal
        if (wrote) wrote = write(name_in_survey(report) + ".txt", benchmark.text(report, whole));
      });
  return wrote;
}

Expected<void> Survey::save(bool complete, const std::string& reason) {
  record_.seconds = seconds();
  record_.complete = complete;
  record_.incomplete_reason = reason;
  record_.notes = notes();
  return write("survey.json", document_text(record_, summary_of(record_.reports)));
}

/// The quick part of `numatlas selftest`: what fails is told with the results.
Expected<void> Survey::check_itself() {
  if (record_.options.null_engine) return {};
  const auto checked = TRY(run_checks(record_.machine, comm_, {}, true));
  if (!root()) return {};
  for (const Case& one : checked)
    if (label_of(one, "verdict") == "failed")
      failed_checks_.push_back(
          fmt::format("self-test {} failed: {}", one.name, label_of(one, "evidence")));
  return {};
}

Expected<void> Survey::run_all() {
  TRY(check_itself());
  MeasuringHooks hooks;
  hooks.point = [this](const std::string& benchmark, std::size_t done, std::size_t all) {
    progress_.point(benchmark, done, all);
  };
  hooks.ended = [this](const std::string& benchmark, const std::string& outcome) {
    progress_.end(benchmark, outcome);
  };
  hooks.visited = [this] { return visited(); };
  hooks.begun = [this] { return item_begun(); };
  hooks.ending = [this](std::size_t cases) { return ending(cases); };
  measuring_.emplace(record_.options, record_.machine, record_.items, comm_, std::move(hooks));
  return measuring_->run(seconds_asked_ - seconds());
}

/// What the time was too short for, and where it was not kept.
std::vector<std::string> Survey::notes() const {
  std::vector<std::string> notes = failed_checks_;
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
        "took {:.0f} s instead of {:.0f} s; {} took {:.0f} s instead of {:.0f} s: {}", taken,
        seconds_asked_, items[worst].name, record_.taken[worst], items[worst].planned_share,
        items[worst].least_time > items[worst].planned_share
            ? "its minimum run is longer than its share"
            : "allocation and warm-up exceeded the estimate; is the machine busy?"));
  } else if (taken > 0) {
    notes.push_back(fmt::format("took {:.0f} s of {:g} s{}", taken, seconds_asked_,
                                has_page() ? ", before the page was made" : ""));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const SurveyItem& item = items[i];
    if (item.skip.empty() && !item.left_out.empty() && has_begun(i))
      notes.push_back(fmt::format("{}: no time for {}", item.name, item.left_out));
  }
  if (!record_.reports.empty() && record_.reports.front().hosts.size() > 1)
    notes.push_back(
        fmt::format("{} hosts: machine and nodes are those of the first, figures are "
                    "medians over all",
                    record_.reports.front().hosts.size()));
  for (const RunReport& report : record_.reports) {
    const bool has_results = std::any_of(report.cases.begin(), report.cases.end(),
                                         [](const Case& one) { return one.status == Status::ok; });
    if (has_results && report.facts.empty())
      notes.push_back(
          fmt::format("{0}: no figure for the summary (for example no size larger than the "
                      "caches); see {0}.txt",
                      name_in_survey(report)));
  }
  const std::string guest = guest_note({record_.machine});
  if (record_.options.null_engine)
    notes.insert(notes.begin(), null_engine_note);
  else if (!guest.empty())
    notes.push_back(guest);
  return notes;
}

/// "; not run: loaded, cores".
std::string Survey::not_run() const {
  std::string names;
  for (std::size_t i = 0; i < record_.items.size(); ++i) {
    const SurveyItem& item = record_.items[i];
    if (item.skip.empty() && !has_begun(i))
      names += (names.empty() ? "; not run: " : ", ") + item.name;
  }
  return names;
}

/// Files and summary, also after a stop. The first error counts.
Expected<void> Survey::end(const std::optional<Error>& error) {
  std::optional<Error> problem = error;
  progress_.clear();
  take_reports();
  const bool measured = measuring_->has_figures();
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
  std::vector<std::string> doubts = failed_checks_;
  if (record_.options.null_engine) doubts.insert(doubts.begin(), null_engine_note);
  SurveyFrame around{
      problem ? full_text(*problem) + not_run() : "", doubts, record_.skipped, {}, {}};
  std::error_code unresolved;
  const fs::path resolved = fs::weakly_canonical(record_.options.folder, unresolved);
  const std::string folder = unresolved ? record_.options.folder : resolved.string();
  if (!folder_begun_) {
    around.files.push_back(folder +
                           ": still holds the earlier survey, because this one finished no case");
  } else if (saved) {
    around.files.push_back(
        fmt::format("{}: survey.json has all figures, doubts and reasons", folder));
    if (const std::string kept = drop_earlier(); !kept.empty()) around.files.push_back(kept);
    if (!problem && record_.options.html && hooks_.report)
      around.files.push_back(hooks_.report(path("survey.json"), path("report.html")));
  }
  around.normal = normal_line(normal_of(record_.reports, record_.options.machine_type));
  const SurveySummary summary = summary_of(record_.reports);
  const auto shown = write_stdout(summary_text(record_.machine, summary, around));
  if (!problem) problem = error_of(shown);
  if (problem) return fail(*problem);
  return {};
}

Expected<int> Survey::go() {
  TRY(prepare());
  if (record_.options.dry_run) {
    const auto shown = root() ? show_plan() : Expected<void>{};
    TRY(agree(comm_, error_of(shown)));
    return 0;
  }
  const auto measured = run_all();
  const auto ran = measuring_->conclude(measured);
  if (!root()) {
    if (!ran) return fail(ran.error());
    TRY(agree(comm_, std::nullopt));
    return 0;
  }
  const auto ended = end(error_of(ran));
  // After an error the others do not wait for this one any more.
  const auto all = ran ? agree(comm_, error_of(ended)) : ended;
  if (!all) return fail(all.error());
  return record_.options.strict && !distrust_of(record_.reports).empty() ? 1 : 0;
}

}  // namespace

Expected<int> run_survey(const SurveyOptions& options, Comm& comm, const SurveyHooks& hooks) {
  return Survey(options, comm, hooks).go();
}

}  // namespace numatlas

#include "run/runner.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/read_file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/agreement.h"
#include "report/file.h"
#include "report/reporter.h"
#include "run/estimate_time.h"
#include "run/place_words.h"
#include "run/rounds.h"
#include "run/session.h"
#include "run/setup.h"

namespace numatlas {
namespace {

using Seconds = std::chrono::duration<double>;

/// The words that may name a file that is read: all but the names of `files`.
std::vector<std::string> other_words(const std::vector<std::string>& arguments,
                                     const std::vector<OutputFile>& files) {
  std::vector<std::string> words;
  for (const std::string& word : arguments) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    words.push_back(equals == word.npos ? word : word.substr(equals + 1));
  }
  for (const OutputFile& file : files) {
    const auto name = std::ranges::find(words, file.path);
    if (name != words.end()) words.erase(name);
  }
  return words;
}

/// What can be known to be wrong before any work: files that cannot be written, formats that have
/// no place for what is asked, ranks that are not there.
Expected<void> check_options(const Benchmark& benchmark, const RunOptions& options,
                             const Comm& comm) {
  if (comm.rank() == 0 && !options.only_plans()) {
    std::vector<OutputFile> files = output_files(options);
    for (const OutputFile& own : benchmark.shown.own_files({})) files.push_back(own);
    TRY(check_writable(files, other_words(options.arguments, files)));
  }
  return {};
}

/// Whether a file holds a run that ended.
bool has_whole_run(const std::string& path) {
  if (path.empty() || is_special_file(path)) return false;
  const auto text = read_file(path, "", "");
  return text && text->find(R"("complete": true)") != std::string::npos;
}

/// One benchmark in a session of its own.
class Run {
 public:
  Run(const Benchmark& benchmark, const RunOptions& options, Comm& comm, const RunHooks& hooks)
      : benchmark_(benchmark),
        options_(options),
        comm_(comm),
        hooks_(hooks),
        session_(comm, session_options(), [this](BenchmarkRun&) { return visited(); }) {}

  Expected<RunReport> go(Setup setup);

 private:
  SessionOptions session_options() {
    const Seconds time(options_.time_of_run());
    const bool pilots = hooks_.pilots && !benchmark_.reduced_to_hosts;
    // What cannot be written now is told of at the end.
    return {.time = time,
            .visits = options_.visits,
            .seed = options_.seed,
            .pilots = pilots,
            .null_engine = options_.null_engine,
            .noise = options_.noise,
            .after_round = [this] { (void)save(false); }};
  }

  BenchmarkRun& benchmark_run() { return *session_.runs().front(); }
  RunReport& report() { return benchmark_run().report(); }
  bool root() const { return comm_.rank() == 0; }
  /// Beside a run that ended as long as this one has not.
  std::string place_of(const OutputFile& file) {
    const bool beside = file.option == "--json" && keeps_whole_ && !report().complete;
    return file.path + (beside ? ".partial" : "");
  }
  Expected<void> visited();
  Expected<void> save(bool last);
  std::string text_of(const std::string& option);
  Expected<void> show();
  /// Files and table, also after a stop: what was measured is not lost. The first error counts.
  Expected<void> output(const Expected<void>& ran);

  const Benchmark& benchmark_;
  const RunOptions& options_;
  Comm& comm_;
  const RunHooks& hooks_;
  Session session_;
  std::chrono::steady_clock::time_point next_save_;
  std::vector<OwnFile> own_files_;  ///< of the benchmark, once their names are known
  bool keeps_whole_ = false;        ///< the file of --json holds an earlier run that ended
};

/// Only rank 0 writes; all must hear of it when it cannot.
Expected<void> Run::visited() {
  const auto saved = root() ? save(false) : Expected<void>{};
  return agree(comm_, error_of(saved));
}

/// Devices and pipes get the whole once, at the end; files are rewritten as results come.
Expected<void> Run::save(bool last) {
  const auto begun = std::chrono::steady_clock::now();
  const auto asked = output_files(options_);
  const bool any = hooks_.save || benchmark_.shown.own_files ||
                   std::ranges::any_of(asked, [](const auto& file) { return !file.path.empty(); });
  const bool write = last || (any && begun >= next_save_);
  if (write && !last) {
    benchmark_run().update(session_.pilots());
    if (benchmark_.reduced_to_hosts) benchmark_.figures.conclude(report());
    benchmark_run().describe();
  }
  if (own_files_.empty()) own_files_ = benchmark_.shown.own_files(report());
  std::vector<OutputFile> files = asked;
  files.insert(files.end(), own_files_.begin(), own_files_.end());
  for (const OutputFile& file : files) {
    const bool at_end = is_special_file(file.path);
    if (!write || file.path.empty() || (at_end && !last)) continue;
    TRY(write_whole(place_of(file), text_of(file.option), file.option));
  }
  // All cases are written each time: that may take a twentieth of the run, not its square.
  const auto ended = std::chrono::steady_clock::now();
  if (write) next_save_ = ended + 20 * (ended - begun);
  if (write && hooks_.save) return hooks_.save(report());
  return {};
}

/// What the file of an option holds.
std::string Run::text_of(const std::string& option) {
  const auto own = std::ranges::find(own_files_, option, &OwnFile::option);
  if (own != own_files_.end()) return own->text(report());
  return option == "--csv" ? first_table_csv(report()) : text_in("json", report());
}

Expected<void> Run::show() {
  benchmark_run().progress().clear();
  const bool own = hooks_.table && options_.format == "table";
  if (own) return write_stdout(hooks_.table(report()));
  RunOptions shown = options_;
  shown.style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  return write_stdout(benchmark_.text(report(), shown));
}

Expected<void> Run::output(const Expected<void>& ran) {
  if (report().cases.empty()) return {};
  const auto saved = save(true);
  if (keeps_whole_ && report().complete && saved)
    std::remove((options_.json_file + ".partial").c_str());
  if (keeps_whole_ && !report().complete)
    say(
        fmt::format("numatlas: note: {0} keeps the earlier run, which ended; this one is in "
                    "{0}.partial\n",
                    printable(options_.json_file)));
  // A table without a single figure would only hide the error that follows.
  const auto shown = benchmark_run().has_results() || (ran && !benchmark_run().skipped())
                         ? show()
                         : Expected<void>{};
  return saved ? shown : saved;
}

Expected<RunReport> Run::go(Setup setup) {
  const Seconds time(options_.time_of_run());
  keeps_whole_ = root() && has_whole_run(options_.json_file);
  auto ran = session_.add(benchmark_, options_, hooks_, std::move(setup), time);
  if (session_.runs().empty()) return fail(ran.error());
  if (ran) ran = session_.finish();
  ran = session_.conclude(ran);
  std::optional<Error> problem = error_of(ran);
  const auto wrong = benchmark_run().wrong();
  // A device that failed fails again at the next case: the first time says more.
  if (problem && wrong && problem->kind == wrong->kind) problem = wrong;
  if (root()) {
    const auto put_out = output(ran);
    if (!problem) problem = error_of(put_out);
  }
  if (!problem) problem = wrong;
  std::optional<Error> skip;
  if (ran) {
    problem = error_of(agree(comm_, problem));
    if (!problem) skip = error_of(benchmark_run().check_measured());
  }
  if (!problem && hooks_.process_memory) {
    const auto text = TRY(benchmark_run().process_memory_text());
    if (root()) problem = error_of(write_stdout(text));
  }
  if (problem) return fail(*problem);
  if (skip) return fail(*skip);
  return std::move(report());
}

/// Runs a plan on the null engine, which takes no time, for what only shows in a report.
Expected<void> rehearse(const Benchmark& benchmark, const RunOptions& asked, Comm& comm,
                        Setup setup) {
  // Passes of hosts are looked at by every host, in its own time.
  if (benchmark.reduced_to_hosts) return {};
  RunOptions options = asked;
  options.null_engine = options.quiet = true;
  options.visits = 1;
  // One short visit to each case, as the samples of thousands of workers are made one by one.
  options.time_of_all = false;
  options.limit = Nanoseconds{0};
  options.stop.time = std::chrono::milliseconds(10);
  for (PlannedCase& planned : setup.plan) planned.scenario.stop.time = options.stop.time;
  const Seconds time(options.stop.time);
  const RunHooks hooks;
  Session session(comm, {.time = time, .visits = 1, .seed = options.seed, .null_engine = true},
                  [](BenchmarkRun&) { return Expected<void>(); });
  auto ran = session.add(benchmark, options, hooks, std::move(setup), time);
  if (session.runs().empty()) return ran;
  if (ran) ran = session.finish();
  return session.conclude(ran);
}

/// A line that says how long a run takes, where that is long, or longer than --time says.
std::string long_time(const Setup& setup, const RunOptions& options) {
  constexpr double is_long = 9.5, much_longer = 1.5;
  const TimeNeeded needed = time_of(setup, options);
  const double asked = options.time_of_all ? Seconds(options.stop.time).count() : needed.seconds;
  if (needed.seconds < is_long && needed.seconds < much_longer * asked) return "";
  const std::string text = time_text(needed, options, may_end_early(options, setup.machines));
  return text.empty() ? "" : text + "\n";
}

}  // namespace

Expected<RunReport> run_benchmark(const Benchmark& benchmark, const RunOptions& asked, Comm& comm,
                                  const RunHooks& hooks) {
  RunOptions options = asked;
  auto checked = put_words_in_place(options);
  if (checked) checked = check_options(benchmark, options, comm);
  auto setup = TRY(set_up(benchmark, options, comm, nullptr, checked));
  if (options.time_is_usual) choose_time(options, benchmark, setup);
  if (options.only_plans()) {
    TRY(rehearse(benchmark, options, comm, setup));
    std::string text = plan_text(setup, options);
    const std::size_t others = setup.host ? comm.layout().hosts.size() - 1 : 0;
    if (others > 0 && options.format != "json")
      text += fmt::format("and as much on {}\n", count_text(others, "more host"));
    if (comm.rank() == 0) {
      TRY(write_stdout(text));
      for (const OutputFile& file : output_files(options))
        if (!file.path.empty())
          say(fmt::format("note: nothing was measured, so {} {} was not written\n", file.option,
                          printable(file.path)));
    }
    return RunReport{};
  }
  if (comm.rank() == 0 && !options.quiet) {
    if (!hooks.progress && (!options.null_engine || options.noise)) say(long_time(setup, options));
    for (const std::string& note : options.placement_notes)
      say(fmt::format("numatlas: note: {}\n", note));
  }
  return Run(benchmark, options, comm, hooks).go(std::move(setup));
}

}  // namespace numatlas

// From the launcher to the ranks and back to one exit code.
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <cerrno>  // program_invocation_short_name
#include <new>

#include <fmt/format.h>

#include "base/signals.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/agreement.h"
#include "report/answer.h"
#include "run/runner.h"

namespace numatlas {

void print_error(const Error& error) {
  const char* name = program_invocation_short_name;
  // Messages quote files and the names of files; one line each is what they are.
  const std::size_t width = terminal_columns(STDERR_FILENO).value_or(0);
  say(wrapped(fmt::format("{}: error: {}", name, printable(full_text(error))), width));
  const std::string hint = full_hint(error);
  if (!hint.empty()) say(wrapped(fmt::format("{}: hint: {}", name, printable(hint)), width));
}

Error error_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return {ErrorKind::resource, "not enough memory",
            "raise `ulimit -v` or `ulimit -d`, or the memory limit of the job or container"};
  return {ErrorKind::internal, thrown.what(), ""};
}

int end_code(const Error& error) {
  const int signal = stop_signal();
  return error.kind == ErrorKind::interrupted && signal != 0 ? 128 + signal : exit_code(error.kind);
}

namespace {

/// Prints an error that the ranks have in common, or that each sees by itself, once.
int end_together(Comm& comm, const Error& error) {
  const int signal = stop_signal();
  const bool stopped = error.kind == ErrorKind::interrupted;
  const int code = end_code(error);
  // An error that all ranks agreed on is rank 0's to print; of a stop or a lost peer each rank
  // learns by itself, and rank 0 may be the one that is gone.
  const bool lonely = stopped || error.kind == ErrorKind::peer;
  if (lonely ? comm.claim_report() : comm.rank() == 0) {
    if (stopped) {
      const std::string by = signal == SIGXCPU ? " at the limit of CPU time (ulimit -t)"
                             : signal != 0     ? fmt::format(" by signal {}", signal)
                                               : "";
      say(fmt::format("numatlas: interrupted{}: what was finished before is kept\n", by));
    } else {
      print_error(error);
    }
  }
  if (error.kind == ErrorKind::peer) comm.abort(code);
  return code;
}

/// The ranks, and from now on a flag in place of a signal's default action. Not before: MPI starts
/// when all ranks have come, and looks at no flag while it waits for them.
Expected<std::unique_ptr<Comm>> connect(const std::string& mpi, bool alone) {
  auto comm = alone ? Expected<std::unique_ptr<Comm>>(make_single_comm()) : connect_comm(mpi);
  install_signal_handlers();
  return comm;
}

/// A rank that does something else is waited for in vain: it ends early, or waits for others
/// itself. The first that differs from rank 0, in words; nothing where all ranks do the same. This
/// is the first agreement of all runs: a rank whose words are wrong says so in it (end_with_error).
Expected<std::optional<Error>> find_other_task(Comm& comm, const std::string& task) {
  if (comm.size() == 1) return std::nullopt;
  const std::string mine = program_invocation_short_name + (task.empty() ? "" : " " + task);
  const auto unlike = TRY(first_unlike(comm, mine));
  if (!unlike) return std::nullopt;
  const auto all = TRY(comm.all_gather(mine));
  return Error{ErrorKind::peer,
               fmt::format("rank {} runs a different command from rank 0: `{}`, not `{}`", *unlike,
                           all[static_cast<std::size_t>(*unlike)], all.front()),
               "give all ranks the same command and options"};
}

}  // namespace

int with_ranks(const RankWork& ranks, const std::function<Expected<void>(Comm&)>& work,
               const std::function<Error(Error)>& in_words) {
  const auto said = [&](const Error& error) { return in_words ? in_words(error) : error; };
  auto comm = connect(ranks.mpi, ranks.alone);
  if (!comm) {
    if (should_report(detect_launcher())) print_error(said(comm.error()));
    return exit_code(comm.error().kind);
  }
  try {
    const auto other = find_other_task(**comm, ranks.task);
    if (!other) return end_together(**comm, said(other.error()));
    if (*other) {  // all know it, and none waits
      if ((*comm)->rank() == 0) print_error(**other);
      return exit_code((*other)->kind);
    }
    const auto worked = work(**comm);
    return worked ? 0 : end_together(**comm, said(worked.error()));
  } catch (const std::exception& thrown) {
    // Nothing here throws on purpose, but a library may, and the other ranks must not wait.
    const Error error = error_of(thrown);
    print_error(error);
    if ((*comm)->size() > 1) (*comm)->abort(exit_code(error.kind));
    return exit_code(error.kind);
  }
}

int end_with_error(const Error& error) {
  const LauncherTask task = detect_launcher();
  if (task.launched() && task.size.value_or(2) > 1) {
    // The others may have other words and be well: they wait in find_other_task.
    if (auto comm = connect("auto", false)) {
      const auto agreed = first_unlike(**comm, fail(error));
      return end_together(**comm, agreed ? error : agreed.error());
    }
  }
  if (should_report(task)) print_error(error);
  return end_code(error);
}

namespace {

/// What decides how often the ranks meet: words that every rank must have been told.
std::string task_of(const RunOptions& options) {
  std::string task = options.command;
  if (options.dry_run) task += " --dry-run";
  if (options.null_engine) task += " --engine null";
  return task;
}

}  // namespace

int code_with_ranks(const RankWork& ranks, const std::function<Expected<int>(Comm&)>& work) {
  int code = 0;
  const int failed = with_ranks(ranks, [&](Comm& comm) -> Expected<void> {
    const auto mine = TRY(work(comm));
    const auto said = TRY(comm.largest(static_cast<std::uint64_t>(mine)));
    code = static_cast<int>(said);
    return {};
  });
  return failed != 0 ? failed : code;
}

int run_and_exit_code(const Benchmark& benchmark, const RunOptions& options) {
  const bool alone = *is_alone(options.machine, options.null_engine, true);
  return code_with_ranks({task_of(options), options.mpi, alone}, [&](Comm& comm) -> Expected<int> {
    const auto report = TRY(run_benchmark(benchmark, options, comm));
    // Rank 0 knows; the others have nothing to judge.
    if (comm.rank() != 0 || options.only_plans()) return 0;
    const int code = benchmark.exit_code(report);
    return code == 0 && options.strict && !distrust_of(report).empty() ? 1 : code;
  });
}

std::string start_time(const RunOptions& options) {
  // Golden outputs must not change from day to day.
  const std::time_t now = options.null_engine ? 0 : std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace numatlas

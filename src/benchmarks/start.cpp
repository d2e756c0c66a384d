// From the launcher to the ranks and back to one exit code.
#include <cerrno>  // program_invocation_short_name

#include <fmt/format.h>

#include "base/say.h"
#include "base/signals.h"
#include "benchmarks/runner.h"
#include "engine/agreement.h"

namespace numatlas {

void print_error(const Error& error) {
  const char* name = program_invocation_short_name;
  say(fmt::format("{}: error: {}\n", name, error.message));
  if (!error.hint.empty()) say(fmt::format("{}: hint: {}\n", name, error.hint));
}

namespace {

/// Prints an error that the ranks have in common, or that each sees by itself, once.
int end_together(Comm& comm, const Error& error) {
  const int signal = stop_signal();
  const bool stopped = error.kind == ErrorKind::interrupted;
  const int code = stopped && signal != 0 ? 128 + signal : exit_code(error.kind);
  // An error that all ranks agreed on is rank 0's to print; of a stop or a lost peer each rank
  // learns by itself, and rank 0 may be the one that is gone.
  const bool lonely = stopped || error.kind == ErrorKind::peer;
  if (lonely ? comm.claim_report() : comm.rank() == 0) {
    if (stopped) {
      say(fmt::format("numatlas: interrupted{}: what was finished before is kept\n",
                      signal != 0 ? fmt::format(" by signal {}", signal) : ""));
    } else {
      print_error(error);
    }
  }
  if (error.kind == ErrorKind::peer) comm.abort(code);
  return code;
}

}  // namespace

int with_ranks(const std::string& mpi, bool alone, const std::function<Expected<void>(Comm&)>& work,
               const std::function<Error(Error)>& in_words) {
  const auto said = [&](const Error& error) { return in_words ? in_words(error) : error; };
  install_signal_handlers();
  auto comm = alone ? Expected<std::unique_ptr<Comm>>(make_single_comm()) : connect_comm(mpi);
  if (!comm) {
    if (should_report(detect_launcher())) print_error(said(comm.error()));
    return exit_code(comm.error().kind);
  }
  try {
    const auto worked = work(**comm);
    return worked ? 0 : end_together(**comm, said(worked.error()));
  } catch (const std::exception& error) {
    // Nothing here throws on purpose, but a library may, and the other ranks must not wait.
    print_error({ErrorKind::internal, error.what(), ""});
    if ((*comm)->size() > 1) (*comm)->abort(exit_code(ErrorKind::internal));
    return exit_code(ErrorKind::internal);
  }
}

int end_with_error(const Error& error) {
  install_signal_handlers();
  const LauncherTask task = detect_launcher();
  if (task.launched() && task.size.value_or(2) > 1) {
    // The others may have other words and be well: they wait in the first agreement of a run.
    if (auto comm = connect_comm("auto")) {
      const auto agreed = agree(**comm, error);
      return end_together(**comm, agreed ? error : agreed.error());
    }
  }
  if (should_report(task)) print_error(error);
  return exit_code(error.kind);
}

int run_and_exit_code(const Benchmark& benchmark, const RunOptions& options) {
  // A recorded machine is planned by one process.
  const bool alone = !options.machine.empty() && !options.null_engine;
  int code = 0;
  const int failed = with_ranks(options.mpi, alone, [&](Comm& comm) -> Expected<void> {
    const auto ran = benchmark.run(options, comm);
    if (!ran) return fail(ran.error());
    code = *ran;
    return {};
  });
  return failed != 0 ? failed : code;
}

}  // namespace numatlas

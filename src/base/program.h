// Other programs, from their start to their end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace numatlas {

/// Words as execv takes them; valid as long as `words`.
std::vector<char*> as_argv(const std::vector<std::string>& words);

/// Exit codes of who starts a program that cannot be: as env(1) and the shells have them, found but
/// not executable, and not found.
inline constexpr int cannot_execute = 126, not_found = 127;

/// Why execvp of a program failed with this errno value, and what to try: unavailable or
/// permission, the program as subject.
Error failed_start(const std::string& program, int code);

/// Where what a program prints goes.
enum class ProgramOutput {
  here,        ///< where that of this process goes
  shown,       ///< to standard error of this process
  kept,        ///< into ProgramRun::output, the last 16 MiB
  errors_kept  ///< the same of standard error alone
};

struct ProgramRequest {
  /// The program, by its path or on PATH, and its arguments.
  std::vector<std::string> words = {};
  /// Done in the new process before it becomes the program; its error is run_program's.
  std::function<Expected<void>()> prepare = {};
  std::optional<std::string> input =
      {};  ///< file, its standard input; absent: that of this process
  ProgramOutput output = ProgramOutput::here;
  /// With all that it starts it is a process group of its own: stopped, suspended and ended as one.
  /// What it leaves behind is ended, those included that made themselves sessions of their own:
  /// this process becomes the parent of all orphans, and may have no other children meanwhile.
  bool own_group = false;
  std::optional<double> timeout = {};  ///< seconds, after which it is ended
  /// From SIGTERM to SIGKILL; absent: it is waited for.
  std::optional<std::chrono::milliseconds> grace = {};
  std::function<void(pid_t)> running = {};  ///< told some ten times a second
  std::function<void()> instead = {};       ///< done in the new process, without a program
};

/// How a run came to its end.
enum class Ending { exited, signalled, timeout, wants_terminal, interrupted };

struct ProgramRun {
  Ending ending = Ending::exited;
  bool suspended = false;  ///< this process was stopped meanwhile, so the time says nothing
  int code = 0;            ///< exit code, or the number of the signal
  double seconds = 0;      ///< from the start of the program, by its own clock, to its end
  double user_seconds = 0, system_seconds = 0;  ///< CPU time, with the processes it waited for
  Bytes peak_memory;                            ///< resident, of its largest process
  std::uint64_t minor_faults = 0, major_faults = 0;
  bool left_processes = false;  ///< some of its group went on after its end; they were ended
  std::string output;           ///< where it was kept

  bool good() const { return ending == Ending::exited && code == 0; }
  /// As the shell has it: 128 + the signal.
  int exit_code() const { return ending == Ending::signalled ? 128 + code : code; }
};

/// Why the run is of no use, in words, with the last line of its output where that was kept: "ended
/// with exit code 3 (cannot open x)"; "" of a good one.
std::string failure_text(const ProgramRun& run);

/// Runs a program to its end; tells it (SIGTERM) when this process is told to stop. The kernel ends
/// it with this process. The signals that numatlas ignores have their default action there.
/// Errors: that of `prepare`, a program that cannot be started (as failed_start), an input that
/// cannot be read (the file as subject), no process to be had (resource).
Expected<ProgramRun> run_program(const ProgramRequest& request);

}  // namespace numatlas

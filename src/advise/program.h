// One run of a program, laid out by numatlas itself: the child puts its layout in force and becomes
// the program, so no process stands between.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/layout.h"
#include "base/error.h"
#include "base/units.h"

namespace numatlas {

struct RunRequest {
  std::vector<std::string> words;  ///< program and arguments
  ProgramLayout layout;
  std::string input;  ///< file that the program reads as its standard input; "": nothing
  std::optional<double> timeout;  ///< seconds, after which it is ended
  bool keep_output = false;       ///< for a metric: standard output and error, the last 16 MiB
  bool show_output = false;       ///< on standard error of this process
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
  bool left_processes = false;  ///< some went on after its end; they were ended
  std::string output;           ///< where it was kept
  std::string
      last_words;  ///< last line of its standard error (of both, where both are kept); "" for none

  bool good() const { return ending == Ending::exited && code == 0; }
};

/// Why the run is of no use, in words: "ended with exit code 3 (cannot open x)"; "" of a good one.
std::string failure_text(const ProgramRun& run);

/// Told some ten times a second of the process of a run.
using ProgramWatch = std::function<void(pid_t)>;

/// Runs it to its end; stops it when this process is told to stop, and suspends it with this one.
/// Its process group is its own. What it leaves behind is ended, those included that made
/// themselves sessions of their own: this process becomes the parent of all orphans, and may have
/// no other children meanwhile. Errors: what cannot be put in force (as put_in_force), a
/// program that cannot be started (unavailable, its name as subject), no process to be had
/// (resource).
Expected<ProgramRun> run_program(const RunRequest& request, const ProgramWatch& watch = {});

}  // namespace numatlas

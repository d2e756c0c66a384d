// Stopping: signals set a flag that every wait and every sampling loop looks at.
#pragma once

#include <csignal>

#include <array>

namespace numatlas {

/// SIGINT, SIGTERM, SIGHUP (unless it is ignored: nohup) and SIGXCPU set the flag (a second SIGINT
/// ends at once); SIGPIPE and SIGXFSZ are ignored, so that a closed stdout and a limit on the size
/// of files show as write errors.
void install_signal_handlers();
/// The process group of a program that this one runs: a second SIGINT ends it too, and Ctrl-Z
/// (SIGTSTP) suspends it with this process. 0: none.
void share_stops_with(int group);

/// What the signals that stop a program do is the same at its end as it was at its beginning. Some
/// libraries catch them when they are loaded: UCX takes SIGHUP for a debugger's.
class KeptSignals {
 public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  std::array<struct sigaction, 4> before_{};
};

/// True after a signal, or after request_stop.
bool stop_requested();
/// Number of the signal received, 0 for none.
int stop_signal();
/// As if a signal had come; 0 for a stop without one (an error elsewhere).
void request_stop(int signal);
/// As if nothing had come yet. Only for tests: a process that was told to stop stays stopped.
void reset_stop_for_tests();

}  // namespace numatlas

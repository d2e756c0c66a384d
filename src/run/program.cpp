#include "run/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <initializer_list>

#include "base/environment.h"
#include "base/forbidden_calls.h"
#include "engine/team.h"
#include "run/runner.h"

namespace numatlas {
namespace {

/// A standard stream that came closed would be the number of the next file that is opened, and be
/// written into. Opened for reading only, writing to it is the error that it should be.
void keep_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) (void)open("/dev/null", O_RDONLY);
  }
}

}  // namespace

int run_program(const std::function<int()>& work) {
  forget_untrusted_environment();
  keep_standard_streams();
  (void)std::signal(SIGPIPE, SIG_IGN);
  answer_forbidden_calls();
  undo_openmp_binding();
  try {
    return work();
  } catch (const std::exception& thrown) {
    // Nothing in numatlas throws on purpose; a library may.
    const Error error = error_of(thrown);
    print_error(error);
    return exit_code(error.kind);
  }
}

}  // namespace numatlas

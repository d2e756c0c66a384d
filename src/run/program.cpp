#include "run/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/forbidden_calls.h"
#include "base/units.h"
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

/// With a smaller stack, the start of some commands ends the process by a signal.
constexpr std::uint64_t least_stack = 128 * kib;

std::optional<Error> lack_of_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_stack) return std::nullopt;
  return Error{ErrorKind::resource, "the limit of the stack (ulimit -s) leaves too little to start",
               fmt::format("raise `ulimit -s` to {} or more", least_stack / kib)};
}

/// What ends the process by other exceptions.
std::terminate_handler terminate_otherwise = nullptr;

/// A destructor of a library that needs memory ends the process where there is none; this says so.
/// Asks for no memory itself.
[[noreturn]] void on_terminate() {
  constexpr std::string_view text =
      "numatlas: error: not enough memory\n"
      "numatlas: hint: raise `ulimit -v` or `ulimit -d`, or the memory limit of the job or "
      "container\n";
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    (void)!write(STDERR_FILENO, text.data(), text.size());
    _exit(exit_code(ErrorKind::resource));
  } catch (...) {  // not of memory
  }
  terminate_otherwise();
  std::abort();  // as every such handler does
}

}  // namespace

int run_program(const std::function<int()>& work) {
  forget_untrusted_environment();
  keep_standard_streams();
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (const auto lack = lack_of_stack()) {
    print_error(*lack);
    return exit_code(lack->kind);
  }
  if (const auto before = std::set_terminate(on_terminate); before != on_terminate)
    terminate_otherwise = before;
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

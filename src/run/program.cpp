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
#include "base/process_stat.h"
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

/// What libraries need to start: with less, they and the C library end the process by a signal.
constexpr std::uint64_t least_address_space = 48 * mib, least_stack = 512 * kib;

std::optional<Error> lack_of_room() {
  const auto lacks = [](auto which, std::uint64_t least) {
    rlimit limit{};
    return getrlimit(which, &limit) == 0 && limit.rlim_cur < least;
  };
  const std::uint64_t needed = mapped_memory().value + least_address_space;
  const auto error = [](const char* what, const char* letter, std::uint64_t least) {
    return Error{
        ErrorKind::resource,
        fmt::format("the limit of {} (ulimit -{}) leaves too little to start", what, letter),
        fmt::format("raise `ulimit -{}` to {} or more", letter, least / kib)};
  };
  if (lacks(RLIMIT_AS, needed)) return error("address space", "v", needed);
  if (lacks(RLIMIT_DATA, least_address_space)) return error("data", "d", least_address_space);
  if (lacks(RLIMIT_STACK, least_stack)) return error("the stack", "s", least_stack);
  return std::nullopt;
}

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
    if (write(STDERR_FILENO, text.data(), text.size()) >= 0) {
    }
    _exit(exit_code(ErrorKind::resource));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int run_program(const std::function<int()>& work) {
  forget_untrusted_environment();
  keep_standard_streams();
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (const auto lack = lack_of_room()) {
    print_error(*lack);
    return exit_code(lack->kind);
  }
  (void)std::set_terminate(on_terminate);
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

// Errors by value. Every function that can fail for a reason outside the program returns
// Expected<T>; the program exits in main only, with the code that belongs to the kind.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace numatlas {

/// What went wrong, seen from the user's side. Each kind has its documented exit code
/// (docs/exit-codes.md and `exit_code`).
enum class ErrorKind {
  usage,        ///< the command line is wrong
  unavailable,  ///< the machine or this build does not have what was asked for
  permission,   ///< the system forbids it (EPERM, EACCES, EROFS)
  resource,     ///< not enough memory, huge pages, room for memory in files
  io,           ///< a file or a stream cannot be read or written
  placement,    ///< --strict and the observed placement is not the requested one
  peer,         ///< another rank failed, died, or cannot be reached
  interrupted,  ///< stopped by a signal
  internal,     ///< a proof did not hold: a defect of numatlas or of the machine
};

/// One error: the message names the option, file or system call; the hint says what to try
/// (empty when there is nothing to say).
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string hint;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Expected = tl::expected<T, Error>;

/// Shorthand: `return fail(ErrorKind::usage, "--size: ...", "try ...");`
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// snake_case name of a kind, as it stands in JSON results.
const char* name_of(ErrorKind kind);

/// Process exit code of a kind: usage 2, unavailable 3, permission 4, resource 5, io 6,
/// placement 7, peer 8, interrupted 130 (main replaces it by 128 + signal), internal 70.
int exit_code(ErrorKind kind);

/// "Permission denied" for an errno value (thread-safe strerror).
std::string errno_text(int errno_value);

/// Of a file that could not be opened, read or written: permission where the system forbids it
/// (EACCES, EPERM, EROFS), io otherwise.
ErrorKind file_error_kind(int errno_value);

}  // namespace numatlas

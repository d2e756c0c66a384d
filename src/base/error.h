// Errors by value. Every function that can fail for a reason outside the program returns
// Expected<T>; the program exits in main only, with the code that belongs to the kind.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
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

/// One error. Programs decide by kind and subject; the texts are for people.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  ///< what is wrong with the subject, without naming it
  std::string hint;     ///< what to try, in any program; may be empty
  /// The option, with its value where that tells more ("--size", "--pages 2M"), the file, or the
  /// system call; may be empty.
  std::string subject = {};
  /// How the hint goes on, or what it is, where it speaks of options of numatlas, which its older
  /// programs do not have: ", or leave --cpus out".
  std::string option_hint = {};
  /// The rank or the host ("rank 3 on node7"); empty where all have it.
  std::string where = {};

  friend bool operator==(const Error&, const Error&) = default;
};

/// "where: subject: message", as far as they are there.
std::string full_text(const Error& error);
/// The whole hint.
std::string full_hint(const Error& error);
/// "text; hint", for one line.
std::string with_hint(const std::string& text, const Error& error);

/// Whether the subject is this option, with or without a value.
bool is_about(const Error& error, std::string_view option);
/// The same error with `subject`; a subject that it had goes into the message.
Error about(std::string subject, Error error);
/// The same error of what an option was given: its subject is the option, with the value where the
/// error is about that.
Error of_option(const std::string& option, Error error);
/// The same error about the option `theirs`, where it is about `ours`.
Error renamed(Error error, std::string_view ours, std::string_view theirs);

template <class T>
using Expected = tl::expected<T, Error>;

template <class T>
Expected<T> of_option(const std::string& option, Expected<T> value) {
  if (!value) value.error() = of_option(option, std::move(value).error());
  return value;
}

/// Shorthand: `return fail(ErrorKind::resource, "not enough memory", "start fewer ranks");`
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
/// `return fail_about(ErrorKind::io, path, "cannot be read");`
inline tl::unexpected<Error> fail_about(ErrorKind kind, std::string subject, std::string message,
                                        std::string hint = {}, std::string option_hint = {}) {
  return tl::unexpected<Error>(
      Error{kind, std::move(message), std::move(hint), std::move(subject), std::move(option_hint)});
}
/// Of kind usage: `return fail_usage("--size", "'x' is not a number", "try ...");`
inline tl::unexpected<Error> fail_usage(std::string subject, std::string message,
                                        std::string hint = {}, std::string option_hint = {}) {
  return fail_about(ErrorKind::usage, std::move(subject), std::move(message), std::move(hint),
                    std::move(option_hint));
}

namespace detail {
template <class T>
T value_of(Expected<T>& expected) {
  return *std::move(expected);
}
inline void value_of(Expected<void>& /*expected*/) {}
}  // namespace detail

/// The value of an Expected, or the return of its error from the function it stands in:
/// `const Machine machine = TRY(read_machine(comm));`. A statement expression, which gcc and clang
/// have.
#define TRY(...)                                                 \
  __extension__({                                                \
    auto try_ = (__VA_ARGS__);                                   \
    if (!try_) return ::numatlas::fail(std::move(try_).error()); \
    ::numatlas::detail::value_of(try_);                          \
  })

/// The names of the kinds, as they stand in JSON results.
inline constexpr std::pair<ErrorKind, const char*> error_kind_names[] = {
    {ErrorKind::usage, "usage"},
    {ErrorKind::unavailable, "unavailable"},
    {ErrorKind::permission, "permission"},
    {ErrorKind::resource, "resource"},
    {ErrorKind::io, "io"},
    {ErrorKind::placement, "placement"},
    {ErrorKind::peer, "peer"},
    {ErrorKind::interrupted, "interrupted"},
    {ErrorKind::internal, "internal"}};
const char* name_of(ErrorKind kind);

/// Process exit code of a kind: usage 2, unavailable 3, permission 4, resource 5, io 6,
/// placement 7, peer 8, interrupted 130 (main replaces it by 128 + signal), internal 70.
int exit_code(ErrorKind kind);

/// "Permission denied" for an errno value (thread-safe strerror).
std::string errno_text(int errno_value);

/// Of a file that could not be opened, read or written: permission where the system forbids it
/// (EACCES, EPERM, EROFS), io otherwise.
ErrorKind file_error_kind(int errno_value);

// Fields that parsers fill, a line each.

/// Puts what was read into `field`; its error where it could not be read.
template <class T, class Read>
Expected<void> fill(T& field, Expected<Read> read) {
  if (!read) return fail(std::move(read).error());
  field = *std::move(read);
  return {};
}

/// The first error of several readings. All of them are done, so none may rely on one before.
inline Expected<void> first_error(std::initializer_list<Expected<void>> readings) {
  for (const Expected<void>& reading : readings)
    if (!reading) return reading;
  return {};
}

}  // namespace numatlas

#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace numatlas {

std::string full_text(const Error& error) {
  std::string text;
  for (const std::string* part : {&error.where, &error.subject})
    text += part->empty() ? "" : *part + ": ";
  return text + error.message;
}

std::string full_hint(const Error& error) { return error.hint + error.option_hint; }

std::string with_hint(const std::string& text, const Error& error) {
  const std::string hint = full_hint(error);
  return hint.empty() ? text : text + "; " + hint;
}

bool is_about(const Error& error, std::string_view option) {
  const std::string_view subject = error.subject;
  return subject.substr(0, subject.find(' ')) == option;
}

Error about(std::string subject, Error error) {
  if (!error.subject.empty()) error.message = error.subject + ": " + error.message;
  error.subject = std::move(subject);
  return error;
}

Error of_option(const std::string& option, Error error) {
  error.subject = error.subject.empty() ? option : option + " " + error.subject;
  return error;
}

Error renamed(Error error, std::string_view ours, std::string_view theirs) {
  if (is_about(error, ours)) error.subject.replace(0, ours.size(), theirs);
  return error;
}

const char* name_of(ErrorKind kind) {
  for (const auto& [one, name] : error_kind_names)
    if (one == kind) return name;
  return "internal";
}

int exit_code(ErrorKind kind) {
  if (kind == ErrorKind::interrupted) return 130;
  if (kind == ErrorKind::internal) return 70;
  return 2 + static_cast<int>(kind);
}

std::string errno_text(int errno_value) {
  return std::error_code(errno_value, std::generic_category()).message();
}

ErrorKind file_error_kind(int errno_value) {
  const bool forbidden = errno_value == EACCES || errno_value == EPERM || errno_value == EROFS;
  return forbidden ? ErrorKind::permission : ErrorKind::io;
}

}  // namespace numatlas

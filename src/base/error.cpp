#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace numatlas {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::permission: return "permission";
    case ErrorKind::resource: return "resource";
    case ErrorKind::io: return "io";
    case ErrorKind::placement: return "placement";
    case ErrorKind::peer: return "peer";
    case ErrorKind::interrupted: return "interrupted";
    case ErrorKind::internal: return "internal";
  }
  return "internal";
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::unavailable: return 3;
    case ErrorKind::permission: return 4;
    case ErrorKind::resource: return 5;
    case ErrorKind::io: return 6;
    case ErrorKind::placement: return 7;
    case ErrorKind::peer: return 8;
    case ErrorKind::interrupted: return 130;
    case ErrorKind::internal: return 70;
  }
  return 70;
}

std::string errno_text(int errno_value) {
  return std::error_code(errno_value, std::generic_category()).message();
}

ErrorKind file_error_kind(int errno_value) {
  const bool forbidden = errno_value == EACCES || errno_value == EPERM || errno_value == EROFS;
  return forbidden ? ErrorKind::permission : ErrorKind::io;
}

}  // namespace numatlas

#include "comm/host_name.h"

#include <unistd.h>

#include "base/text.h"

namespace numatlas {

std::string host_name() {
  char name[256] = "";  // Linux: at most 64 characters
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return printable(name);
}

}  // namespace numatlas

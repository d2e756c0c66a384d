#include "base/environment.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace numatlas {

const char* environment_variable(const char* name) { return secure_getenv(name); }

void forget_untrusted_environment() {
  if (getauxval(AT_SECURE) == 0) return;
  clearenv();
  setenv("PATH", "/usr/bin:/bin", 1);
}

}  // namespace numatlas

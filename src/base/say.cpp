#include "base/say.h"

#include <cstdio>

namespace numatlas {

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace numatlas

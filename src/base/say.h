// Words for people on standard error.
#pragma once

#include <string>

namespace numatlas {

/// Writes to standard error as it is; a closed or full one is nobody's error to hear of.
void say(const std::string& text);

}  // namespace numatlas

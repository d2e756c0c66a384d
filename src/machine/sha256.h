// A cryptographic hash: of ids that must not be told.
#pragma once

#include <string>
#include <string_view>

namespace numatlas {

/// SHA-256 (FIPS 180-4), in 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace numatlas

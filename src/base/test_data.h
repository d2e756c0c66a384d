#pragma once

#include <string>

namespace numatlas {

/// The checkout's folder tests, without a `/` at its end. Defined by the build (CMakeLists.txt) for
/// tests only: in a file of its own, so that a compiler cache serves checkouts in different
/// folders.
std::string test_data();

}  // namespace numatlas

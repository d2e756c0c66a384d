// The --size option of every benchmark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace numatlas {

/// Reads a list of sizes. "512" (bare numbers are whole MiB), "48KiB", "1-2048" and "32KiB-2GiB"
/// (the powers of two within, ends included), "a,b,c" (as written, in order, duplicates dropped).
/// A range inside a list is an error, as is a range that holds no power of two. Errors name --size.
Expected<std::vector<Bytes>> parse_sizes(std::string_view text);

/// "1MiB", "48KiB": without the space, for column heads.
std::string compact_text(Bytes bytes);

}  // namespace numatlas

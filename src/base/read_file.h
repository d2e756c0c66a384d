// Whole files, and why one cannot be read.
#pragma once

#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>

#include "base/error.h"

namespace numatlas {

/// All of the file at `path` (a pipe counts as one). `name` begins the message of an error: usage
/// for a folder or a device, with `hint`; io or permission where it cannot be read, io where it has
/// more than `most_bytes`.
Expected<std::string> read_file(const std::string& path, const std::string& name,
                                const std::string& hint,
                                std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

/// What is left of an open file, which stays open.
Expected<std::string> read_open_file(std::FILE* file, const std::string& name,
                                     std::size_t most_bytes);

}  // namespace numatlas

// Whole files, and why one cannot be read.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "base/error.h"

namespace numatlas {

/// The largest file of results, or recorded machine, that is read. As JSON its value takes up to
/// twenty times as much memory: 5 GiB, which a login node has. Results of large machines reach some
/// 100 MiB, nearly all of it values of visits.
inline constexpr std::size_t most_file_bytes = std::size_t{256} << 20U;

/// All of the file at `path` (a pipe counts as one). `name` begins the message of an error: usage
/// for a folder or a device, with `hint`; io or permission where it cannot be read, resource where
/// it has more than `most_bytes`.
Expected<std::string> read_file(const std::string& path, const std::string& name,
                                const std::string& hint, std::size_t most_bytes = most_file_bytes);

/// What is left of an open file, which stays open.
Expected<std::string> read_open_file(std::FILE* file, const std::string& name,
                                     std::size_t most_bytes);

}  // namespace numatlas

// The environment, as far as whoever started the program may tell it anything.
#pragma once

#include <cstddef>
#include <optional>

namespace numatlas {

/// The value of an environment variable; nullptr where it is not set, and always in a program that
/// has more rights than its caller (set-uid, set-gid, file capabilities).
const char* environment_variable(const char* name);

/// Bytes of OMP_STACKSIZE as libgomp reads it: a number of KiB, or with B, K, M or G; nullopt where
/// it is unset, or is nothing that libgomp would follow.
std::optional<std::size_t> openmp_stack();

/// Empties the environment of a program that has more rights than its caller: libraries (hwloc,
/// MPI, OpenMP) read it as well. Call it first of all.
void forget_untrusted_environment();

}  // namespace numatlas

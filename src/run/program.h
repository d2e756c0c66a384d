// What every program of numatlas does around its work.
#pragma once

#include <functional>

namespace numatlas {

/// The body of main: keeps closed standard streams from being taken by files, ignores SIGPIPE (a
/// closed stdout shows as a write error), gives back the CPUs that OpenMP took before main, goes
/// without system calls that a filter forbids, and turns an exception of a library into an error.
/// A stack that is too small to start (ulimit -s) is an error (resource), and so is a lack of
/// memory that would end the process without a word. Returns the exit code.
int run_program(const std::function<int()>& work);

}  // namespace numatlas

// The way of the data, for every benchmark alike:
// options -> machine -> placement -> layout -> plan -> engine -> traces -> results -> reporters.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>

#include "comm/comm.h"
#include "run/benchmark.h"

namespace numatlas {

/// How a run reports, beside the options: what differs between our own commands and the source
/// systems' (src/legacy/).
struct RunHooks {
  /// Replaces the benchmark's table when set.
  std::function<std::string(const RunReport&)> table;
  /// Called on rank 0 with the report so far, now and then after a visit (files that must not be
  /// lost are written here), and once at the end.
  std::function<Expected<void>(const RunReport&)> save;
  /// Told what goes on, on rank 0, instead of the lines and the bar on standard error: cases done,
  /// and all that are known.
  std::function<void(std::size_t done, std::size_t all)> progress;
  /// Where set: what is printed after the table of the last rank's memory during the last case.
  std::function<std::string(const ProcessMemory&, int rank)> process_memory;
  /// How the program says an error, where it has words of its own for it: for the reasons of cases
  /// without figures.
  std::function<Error(Error)> in_words;
  /// Whether pilots may take memory and time of the run.
  bool pilots = true;
};

/// Runs one benchmark over all ranks and reports on rank 0. Returns the report (on rank 0 complete,
/// elsewhere without results). The comm is the caller's: errors before it exists are the caller's
/// to print as well.
Expected<RunReport> run_benchmark(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                                  const RunHooks& hooks = {});

/// What the ranks are connected for.
struct RankWork {
  std::string task;          ///< command and options that all ranks must have in common
  std::string mpi = "auto";  ///< as --mpi
  bool alone = false;        ///< a recorded machine needs no ranks
};

/// Connects the ranks, sees to it that all have the same task, calls `work` on each, prints its
/// error once and ends all ranks together. Returns the process's exit code. `in_words`: how the
/// program says an error, when it has words of its own for it.
int with_ranks(const RankWork& ranks, const std::function<Expected<void>(Comm&)>& work,
               const std::function<Error(Error)>& in_words = {});

/// The same, where the work ends with an exit code of its own: the largest one of all ranks'.
int code_with_ranks(const RankWork& ranks, const std::function<Expected<int>(Comm&)>& work);

/// A benchmark within code_with_ranks.
int run_and_exit_code(const Benchmark& benchmark, const RunOptions& options);

/// Ends a rank whose command line is wrong, before any work: under a launcher the ranks connect,
/// so that the error is said once, and ranks whose words are right do not wait for this one.
/// Returns the process's exit code.
int end_with_error(const Error& error);

/// Now, in UTC and ISO 8601; of the null engine always the same, as its outputs must be.
std::string start_time(const RunOptions& options);

/// The exit code of a process that ends with it: of an interruption 128 + the signal.
int end_code(const Error& error);
/// "error: message" and "hint: ..." on standard error.
void print_error(const Error& error);
/// Of what a library threw: resource where memory ran out, else internal.
Error error_of(const std::exception& thrown);

}  // namespace numatlas

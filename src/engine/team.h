// The worker threads of this process, and how they wait: asleep.
#pragma once

#include <atomic>
#include <functional>

#include "base/error.h"

namespace numatlas {

/// Barrier for a fixed number of threads that sleep as good as at once: others may be measuring.
class SleepingBarrier {
 public:
  explicit SleepingBarrier(int threads) : threads_(threads) {}
  void wait();

 private:
  int threads_;
  std::atomic<int> here_{0};
  std::atomic<unsigned> round_{0};
};

/// Runs `work(thread)` once on each of `threads` threads at the same time and returns when all have
/// ended; thread 0 is the caller. OpenMP threads where the build has OpenMP (so that OMP_PLACES and
/// OMP_PROC_BIND hold), std::thread otherwise. Error kind resource, with no work done, when fewer
/// threads can be had (OMP_THREAD_LIMIT, process limits).
Expected<void> run_team(int threads, const std::function<void(int)>& work);

/// OpenMP binds the thread that loads it when OMP_PLACES or OMP_PROC_BIND is set, before main; the
/// process then seems to have that thread's CPUs only, and would hand them on to what it executes.
/// Gives the calling thread all places back; the workers of a team are bound to their places when
/// it runs. Call first thing in main.
void undo_openmp_binding();

/// "OpenMP 201511" or "std::thread".
const char* team_description();

}  // namespace numatlas

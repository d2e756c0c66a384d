#include "engine/team.h"

#include <pthread.h>

#include <fmt/format.h>

#ifdef NUMATLAS_HAVE_OPENMP
#include <omp.h>
#endif

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/text.h"
#include "base/tree.h"
#include "base/units.h"
#include "machine/allowance.h"
#include "placement/policy.h"

namespace numatlas {

void SleepingBarrier::wait() {
  const unsigned round = round_.load(std::memory_order_acquire);
  if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    here_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    return;
  }
  while (round_.load(std::memory_order_acquire) == round)
    round_.wait(round, std::memory_order_acquire);
}

namespace {

/// Why so many threads could not be had. `error`: of the call that makes one; 0: OpenMP gave fewer.
tl::unexpected<Error> too_few(int wanted, int got, int error) {
  Error problem{ErrorKind::resource,
                fmt::format("{} worker threads requested, {} available", wanted, got),
                "use fewer, or raise OMP_THREAD_LIMIT", "--threads"};
  if (error == 0) return fail(std::move(problem));
  problem.message += ": pthread_create: " + errno_text(error);
  if (error == EPERM || error == ENOSYS) {
    problem.kind = ErrorKind::permission;
    problem.hint =
        "the container's seccomp profile may refuse the system call clone3: use Docker 20.10.10 or "
        "newer, or --security-opt seccomp=unconfined";
    return fail(std::move(problem));
  }
  problem.hint = "use fewer, or raise `ulimit -u`";
  const auto limit = process_limit(running_system());
  if (limit && std::cmp_less(limit->left(), wanted - 1)) {
    problem.message +=
        fmt::format("; the control group allows {} processes and threads, {} used ({})",
                    limit->most, limit->held(), limit->source);
    problem.hint = "use fewer, or have that limit raised";
    return fail(std::move(problem));
  }
  for (const Limit& other : read_limits(running_system())) {
    if (other.of == Limit::Of::address_space || other.of == Limit::Of::data)
      problem.hint += fmt::format(", or `{}` for their stacks", other.source);
  }
  return fail(std::move(problem));
}

}  // namespace

#ifdef NUMATLAS_HAVE_OPENMP

namespace {

/// CPUs of a place of OMP_PLACES, or what OpenMP made of it.
CpuSet cpus_of_place(int place) {
  std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
  omp_get_place_proc_ids(place, ids.data());
  CpuSet cpus;
  for (int id : ids) cpus.insert(CpuId{id});
  return cpus;
}

bool openmp_binds() {
  return omp_get_proc_bind() != omp_proc_bind_false && omp_get_num_places() > 0;
}

/// Whether so many threads can be started, each with such a stack: libgomp ends the process with
/// exit code 1 when it cannot.
Expected<void> check_start(int threads, std::optional<std::size_t> stack) {
  static int proven = 1;
  if (threads <= proven) return {};
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0)
    return too_few(threads, 1, error);
  // One that is refused here (too small) libgomp does not use either.
  if (stack) (void)pthread_attr_setstacksize(&attributes, *stack);
  std::vector<pthread_t> probes;
  std::atomic<bool> go{false};
  const auto wait = [](void* gate) -> void* {
    static_cast<std::atomic<bool>*>(gate)->wait(false);
    return nullptr;
  };
  pthread_t probe{};
  int error = 0;
  while (std::cmp_less(probes.size() + 1, threads) && error == 0) {
    error = pthread_create(&probe, &attributes, wait, &go);
    if (error == 0) probes.push_back(probe);
  }
  go = true;
  go.notify_all();
  for (const pthread_t& one : probes) pthread_join(one, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    proven = threads;
    return {};
  }
  if (!stack || error == EPERM || error == ENOSYS)
    return too_few(threads, static_cast<int>(probes.size()) + 1, error);
  return fail_about(ErrorKind::resource, "OMP_STACKSIZE",
                    fmt::format("{} worker threads with a stack of {} each cannot be "
                                "started: pthread_create: {}",
                                threads, to_rounded_text(Bytes{*stack}), errno_text(error)),
                    "unset it or make it smaller; else use fewer threads, or raise `ulimit -u` and "
                    "`ulimit -v`");
}

}  // namespace

void undo_openmp_binding() {
  if (!openmp_binds()) return;
  CpuSet cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) cpus = cpus | cpus_of_place(place);
  (void)bind_thread(cpus);  // at worst the process keeps what OpenMP left it
}

Expected<void> run_team(int threads, const std::function<void(int)>& work) {
  TRY(check_start(threads, openmp_stack()));
  // The count is asked for by the placement; OMP_DYNAMIC must not lower it.
  omp_set_dynamic(0);
  std::atomic<int> got{0};
#pragma omp parallel num_threads(threads)
  {
    // All or none: the workers wait for each other.
    if (omp_get_num_threads() == threads) {
      // The first thread is the caller, whose binding was undone.
      if (openmp_binds() && omp_get_place_num() >= 0) {
        (void)bind_thread(cpus_of_place(omp_get_place_num()));
      }
      work(omp_get_thread_num());
    }
    got = omp_get_num_threads();
  }
  if (got != threads) return too_few(threads, got, 0);
  return {};
}

const char* team_description() {
#define NUMATLAS_TEXT_OF(x) #x
#define NUMATLAS_TEXT(x) NUMATLAS_TEXT_OF(x)
  return "OpenMP " NUMATLAS_TEXT(_OPENMP);
}

#else

Expected<void> run_team(int threads, const std::function<void(int)>& work) {
  // Started but held back until all are there: the workers wait for each other.
  std::mutex mutex;
  std::condition_variable decided;
  enum class Go { wait, yes, no } go = Go::wait;
  std::vector<std::thread> others;
  int error = 0;
  const auto held = [&](int thread) {
    {
      std::unique_lock lock(mutex);
      decided.wait(lock, [&] { return go != Go::wait; });
      if (go == Go::no) return;
    }
    work(thread);
  };
  try {
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(held, thread);
  } catch (const std::system_error& failed) {
    error = failed.code().value();
  }
  const int got = static_cast<int>(others.size()) + 1;
  {
    const std::lock_guard lock(mutex);
    go = got == threads ? Go::yes : Go::no;
  }
  decided.notify_all();
  if (got == threads) work(0);
  for (std::thread& other : others) other.join();
  if (got != threads) return too_few(threads, got, error);
  return {};
}

void undo_openmp_binding() {}

const char* team_description() { return "std::thread"; }

#endif

}  // namespace numatlas

// What the process was given: environment, inherited policy, affinity.
#include <sched.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/text.h"
#include "machine/allowance.h"
#include "placement/placement.h"
#include "placement/policy.h"

namespace numatlas {
namespace {

std::string environment(const char* name) {
  const char* value = environment_variable(name);
  return std::string(trim(value == nullptr ? "" : value));
}

/// First number of "4,2" (a number a nesting level); nullopt for anything that is not a count.
std::optional<int> first_count(const std::string& text) {
  const auto value = whole_number<int>(text.substr(0, text.find_first_of(", ")));
  return value && *value >= 1 ? value : std::nullopt;
}

/// Whether OpenMP will pin: OMP_PROC_BIND decides where it is set ("false" switches OMP_PLACES off
/// as well), otherwise OMP_PLACES alone means that it does.
bool openmp_binds() {
  const std::string bind = environment("OMP_PROC_BIND");
  if (bind.empty()) return !environment("OMP_PLACES").empty();
  return strcasecmp(bind.substr(0, bind.find_first_of(", ")).c_str(), "false") != 0;
}

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuMask = std::unique_ptr<cpu_set_t, FreeCpuSet>;

}  // namespace

TaskContext read_task_context() {
  TaskContext task;
  task.omp_num_threads = first_count(environment("OMP_NUM_THREADS"));
  task.omp_binds = openmp_binds();
  task.inherited = inherited_policy();
  return task;
}

Expected<void> bind_thread(const CpuSet& cpus) {
  if (cpus.empty() || cpus.front().value < 0) {
    return fail_usage("--cpus", "no CPU to bind a thread to");
  }
  const auto count = static_cast<std::size_t>(cpus[cpus.size() - 1].value) + 1;
  const CpuMask mask(CPU_ALLOC(count));
  if (!mask) return fail_about(ErrorKind::resource, "--cpus", "no memory for a CPU mask");
  const std::size_t size = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(size, mask.get());
  for (CpuId cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu.value), size, mask.get());
  if (sched_setaffinity(0, size, mask.get()) == 0) return {};
  const int error = errno;
  const bool refused = error == EPERM || error == EACCES;
  return fail_about(
      refused ? ErrorKind::permission : ErrorKind::unavailable, "--cpus",
      fmt::format("sched_setaffinity to CPU {} failed: {}; this thread may use {}", to_list(cpus),
                  errno_text(error), to_list(thread_affinity())),
      error == EINVAL ? "no such CPU is online inside the cpuset of this process" : "");
}

CpuSet thread_affinity() { return scheduler_affinity().value_or(CpuSet{}); }

CpuId current_cpu() { return CpuId{sched_getcpu()}; }

}  // namespace numatlas

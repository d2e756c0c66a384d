#include "advise/counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/forbidden_calls.h"

namespace numatlas {
namespace {

struct Event {
  std::uint32_t type;
  std::uint64_t config;
};
constexpr std::uint64_t tlb_read_misses = PERF_COUNT_HW_CACHE_DTLB |
                                          PERF_COUNT_HW_CACHE_OP_READ << 8U |
                                          PERF_COUNT_HW_CACHE_RESULT_MISS << 16U;
constexpr std::array<Event, 4> all_events{{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                                           {PERF_TYPE_HW_CACHE, tlb_read_misses}}};

int open_event(const Event& event, pid_t process) {
  if (is_forbidden(SYS_perf_event_open)) {
    errno = EPERM;
    return -1;
  }
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // what perf_event_paranoid 2 allows
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

/// Scaled up where the CPU had fewer counters than events.
std::optional<double> read_event(int file) {
  struct {
    std::uint64_t value, enabled, running;
  } count{};
  if (file < 0 || ::read(file, &count, sizeof count) != sizeof count || count.running == 0)
    return std::nullopt;
  return static_cast<double>(count.value) * static_cast<double>(count.enabled) /
         static_cast<double>(count.running);
}

}  // namespace

CounterGroup::~CounterGroup() {
  for (const int file : files_)
    if (file >= 0) close(file);
}

Expected<void> CounterGroup::open(pid_t process) {
  int code = 0;
  bool any = false;
  for (std::size_t i = 0; i < events; ++i) {
    files_[i] = open_event(all_events[i], process);
    if (files_[i] < 0 && code == 0) code = errno;
    any = any || files_[i] >= 0;
  }
  if (any) return {};
  if (code == EACCES || code == EPERM)
    return fail_about(ErrorKind::permission, "perf_event_open", errno_text(code),
                      "see /proc/sys/kernel/perf_event_paranoid");
  const bool no_events = code == ENOENT || code == EOPNOTSUPP || code == ENODEV;
  return fail_about(ErrorKind::unavailable, "perf_event_open",
                    no_events ? "this machine has no hardware counters" : errno_text(code));
}

std::optional<Counters> CounterGroup::read() const {
  const Counters counters{read_event(files_[0]), read_event(files_[1]), read_event(files_[2]),
                          read_event(files_[3])};
  if (!counters.cycles && !counters.instructions && !counters.cache_misses && !counters.tlb_misses)
    return std::nullopt;
  return counters;
}

}  // namespace numatlas

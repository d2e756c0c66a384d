#include "kernels/group_times.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/statistics.h"
#include "kernels/chain.h"

namespace numatlas {
namespace {

#if defined(__x86_64__)

inline std::uint64_t ticks_in_order() {
  std::uint32_t low = 0, high = 0;
  asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
  return std::uint64_t{high} << 32 | low;
}

/// On its return from an interrupt the CPU clears a segment register with a null selector other
/// than 0. Nothing else uses this register in 64-bit programs of Linux.
class InterruptFlag {
 public:
  InterruptFlag() { set(1); }
  ~InterruptFlag() { set(0); }
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;
  /// Whether there was an interrupt since the last call.
  bool take() {
    std::uint32_t selector = 0;
    asm volatile("mov %%gs, %0" : "=r"(selector) : : "memory");
    if (selector != 0) return false;
    set(1);
    return true;
  }

 private:
  static void set(std::uint32_t selector) { asm volatile("mov %0, %%gs" : : "r"(selector)); }
};

/// Whether this CPU does so: a timer interrupts each process after some milliseconds.
bool sees_interrupts() {
  constexpr std::int64_t longest_ns = 50'000'000;
  InterruptFlag flag;
  for (const std::int64_t start = monotonic_ns(); monotonic_ns() - start < longest_ns;)
    if (flag.take()) return true;
  return false;
}

#else

inline std::uint64_t ticks_in_order() {
#if defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("dsb ld\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
#else
  return static_cast<std::uint64_t>(monotonic_ns());
#endif
}

struct InterruptFlag {
  static bool take() { return false; }
};
bool sees_interrupts() { return false; }

#endif

}  // namespace

double GroupTimes::middle_of(std::size_t bin) {
  const std::size_t octave = bin >> bits;
  if (octave < 2) return static_cast<double>(bin);
  const std::size_t shift = octave - 1;
  const std::uint64_t first = (bin - (shift << bits)) << shift;
  return static_cast<double>(first) + 0.5 * static_cast<double>((std::uint64_t{1} << shift) - 1);
}

void GroupTimes::clear() {
  interrupted = 0;
  std::ranges::fill(counts, 0);
}

std::vector<std::pair<double, std::uint64_t>> GroupTimes::times() const {
  std::vector<std::pair<double, std::uint64_t>> found;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    // Below the usual cost of the timer lies what took no time that can be told.
    const double ticks = std::max(1.0, middle_of(bin) - timer_ticks);
    if (counts[bin] > 0) found.emplace_back(ticks * ns_per_tick, counts[bin]);
  }
  return found;
}

std::uint64_t ordered_ticks() { return ticks_in_order(); }

const void* chase_in_groups(const void* position, std::uint64_t groups, GroupTimes& times) {
  InterruptFlag interrupt;
  for (; groups > 0; --groups) {
    const std::uint64_t start = ticks_in_order();
    position = chase(position, times.loads);
    const std::uint64_t end = ticks_in_order();
    times.add(end - start, interrupt.take());
  }
  return position;
}

void measure_timer(GroupTimes& times) {
  constexpr std::uint64_t groups = 1000;
  constexpr std::size_t batches = 21;
  const void* const nowhere = nullptr;
  GroupTimes empty;
  empty.loads = 0;
  chase_in_groups(nowhere, groups, empty);
  empty.clear();
  // What disturbs makes some groups and some batches longer: medians are free of it.
  std::array<double, batches> overheads{}, ticks{};
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const std::int64_t start_ns = monotonic_ns();
    const std::uint64_t start = ticks_in_order();
    chase_in_groups(nowhere, groups, empty);
    const std::uint64_t end = ticks_in_order();
    const auto ns = static_cast<double>(std::max<std::int64_t>(1, monotonic_ns() - start_ns));
    overheads[batch] = ns / static_cast<double>(groups);
    ticks[batch] = ns / static_cast<double>(std::max<std::uint64_t>(1, end - start));
  }
  const auto median = [](std::array<double, batches>& values) {
    std::ranges::sort(values);
    return percentile_sorted(values, 50);
  };
  std::uint64_t before = 0;
  std::size_t middle = 0;
  while (middle + 1 < empty.counts.size() &&
         (before += empty.counts[middle]) < groups * batches / 2)
    ++middle;
  times.timer_ticks = GroupTimes::middle_of(middle);
  times.overhead_ns = median(overheads);
  times.ns_per_tick = median(ticks);
  static const bool seen = sees_interrupts();
  times.sees_interrupts = seen;
}

}  // namespace numatlas

// Times of groups of dependent loads, one by one: what the mean of many hides.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace numatlas {

/// Most loads of a group that is timed.
inline constexpr unsigned most_tail_group = 64;

/// How often a group took how long. Its memory is bounded and touched in advance; a group adds to
/// one counter, between two timings.
struct GroupTimes {
  /// Bins are a tick wide at first, then at most 1/64 of their value.
  static constexpr unsigned bits = 6;
  static constexpr std::size_t bin_count = std::size_t{64 - bits + 1} << bits;
  static std::size_t bin_of(std::uint64_t ticks) {
    const auto width = static_cast<unsigned>(std::bit_width(ticks));
    if (width <= bits + 1) return ticks;
    const unsigned shift = width - bits - 1;
    return (std::size_t{shift} << bits) + (ticks >> shift);
  }
  /// Middle of a bin, in ticks.
  static double middle_of(std::size_t bin);

  unsigned loads = 1;      ///< in a group
  double ns_per_tick = 1;  ///< of the counter that times them
  double timer_ticks = 0;  ///< what a group without loads shows
  double overhead_ns = 0;  ///< all that a group takes beside its loads
  bool sees_interrupts = false;
  std::uint64_t interrupted = 0;  ///< groups in which the CPU took an interrupt: in no bin
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(bin_count);

  void add(std::uint64_t ticks, bool was_interrupted) {
    ++(was_interrupted ? interrupted : counts[bin_of(ticks)]);
  }
  void clear();
  /// Nanoseconds of the loads of a group, ascending, with how many groups took as long.
  std::vector<std::pair<double, std::uint64_t>> times() const;
};

/// Follows the chain for so many groups of `times.loads` loads, and adds their times.
const void* chase_in_groups(const void* position, std::uint64_t groups, GroupTimes& times);

/// A counter of even ticks, read when all loads before it are done and none after it has begun.
std::uint64_t ordered_ticks();

/// Sets what the timing itself takes, with groups that have no loads.
void measure_timer(GroupTimes& times);

}  // namespace numatlas

// Times in which a flow did not run though it should have: its process was stopped (SIGSTOP), or
// something else had its CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace numatlas {

/// On its host's CLOCK_MONOTONIC.
struct Pause {
  std::int64_t start_ns = 0, end_ns = 0;
  friend bool operator==(const Pause&, const Pause&) = default;
};

/// A flow notes this many. One that is interrupted more often than that shares its CPU, which is
/// part of what it measures.
inline constexpr std::size_t most_pauses = 8;

/// Sorted, with those that overlap or touch as one.
std::vector<Pause> merged(std::vector<Pause> pauses);

/// The parts of merged pauses that lie in a time.
std::vector<Pause> within(const std::vector<Pause>& pauses, std::int64_t start_ns,
                          std::int64_t end_ns);

/// Sum of merged pauses.
std::int64_t length_of(const std::vector<Pause>& pauses);

/// When a flow ran, and when all flows of its host did.
struct CommonTime {
  double overlap = 1;           ///< part of its own running time in which all ran
  std::vector<Pause> left_out;  ///< pauses in the time together, which its rates leave out
};

/// Of a flow with this window. `own` and `all` are merged pauses, of itself and of all flows of its
/// host; `last_start_ns` is when the last of these began. Where different flows pause again and
/// again, next to no time is left in which all run: then only its own pauses are left out.
CommonTime common_time(const Pause& window, const std::vector<Pause>& own,
                       const std::vector<Pause>& all, std::int64_t last_start_ns);

}  // namespace numatlas

// Hardware counters of a program, where the system lets us have them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace numatlas {

/// Of a whole run, with all processes that it waited for. Absent: this CPU has no such event.
struct Counters {
  std::optional<double> cycles, instructions, cache_misses, tlb_misses;
};

/// Counts from the moment that a process becomes a program.
class CounterGroup {
 public:
  CounterGroup() = default;
  CounterGroup(const CounterGroup&) = delete;
  CounterGroup& operator=(const CounterGroup&) = delete;
  ~CounterGroup();
  /// Error (permission, unavailable) where none of the events can be had.
  Expected<void> open(pid_t process);
  /// Once the program has ended. nullopt where nothing was counted.
  std::optional<Counters> read() const;

 private:
  static constexpr std::size_t events = 4;
  std::array<int, events> files_{-1, -1, -1, -1};
};

}  // namespace numatlas

// Where the flows of a host wait for each other.
#pragma once

#include <atomic>
#include <cstdint>

namespace numatlas {

/// A counter that those who meet share, within a process or in the memory of their host. It only
/// counts up, so that nothing has to be reset: each meeting waits for a higher value.
class Meeting {
 public:
  /// `before`: how often anybody has come to the meetings before these, all together.
  Meeting(std::atomic<std::uint64_t>& arrived, std::uint64_t members, std::uint64_t before)
      : arrived_(arrived), members_(members), target_(before) {}

  /// Comes to the next meeting, and calls `meanwhile` until all are here or it returns false.
  template <class Meanwhile>
  void wait(Meanwhile meanwhile) {
    target_ += members_;
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    while (arrived_.load(std::memory_order_acquire) < target_ && meanwhile()) {
    }
  }
  /// After a stop, in which nobody waits any more: will not come to so many of the next ones.
  void leave(std::uint64_t times) { arrived_.fetch_add(times, std::memory_order_acq_rel); }

 private:
  std::atomic<std::uint64_t>& arrived_;
  std::uint64_t members_, target_;
};

}  // namespace numatlas

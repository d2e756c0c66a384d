// The kernel's own weights of weighted interleave, which are the whole system's: set for a while,
// and put back whatever happens to the process that set them.
#pragma once

#include <string>
#include <vector>

#include "placement/weighted.h"

namespace numatlas {

/// The folder of the weights; NUMATLAS_TEST_WEIGHTS names another one, for tests.
std::string system_weights_folder();

/// What setting a node's weight takes, one a node: "echo 3 > /sys/.../node0".
std::vector<std::string> system_weight_lines(const WeightedNodes& nodes);

/// Error unless this kernel has weights (unavailable) and this user may set all of them
/// (permission). Changes nothing. Errors name --apply.
Expected<void> check_system_weights();

/// A file of the kernel's and what it held, both ready to be written between fork and exit, where
/// nothing may be allocated.
struct SavedWeight {
  std::string path, value;
};

/// Puts back what a run set that was killed together with its guard, and says what it wrote; ""
/// when there was nothing to do, another run is at work, or this user may not. Errors (io) have in
/// the hint what to write by hand.
Expected<std::string> repair_system_weights();

/// The weights as they are, and back again. A second process waits for the end of this one, in a
/// session of its own so that what a terminal or a batch system sends to the job does not reach it,
/// and writes the old weights when this one ends in any way, SIGKILL included. After a kill of both
/// at once they stand in a file (/run/numatlas/weights) until repair_system_weights, where there
/// can be such a file. Only one run at a time.
class SystemWeights {
 public:
  /// Remembers what is set now for these nodes, starts the guard, then writes these weights. After
  /// an error the old weights stand again. Errors name --apply.
  static Expected<SystemWeights> set(const WeightedNodes& nodes);
  ~SystemWeights();
  SystemWeights(SystemWeights&& other) noexcept;
  SystemWeights(const SystemWeights&) = delete;
  SystemWeights& operator=(const SystemWeights&) = delete;
  SystemWeights& operator=(SystemWeights&&) = delete;

  /// Writes the old weights. What is to be told then, "" for nothing: kernels without bandwidths
  /// from the firmware do not switch their automatic weights on again, which changes no weight. An
  /// error's hint says what to write by hand.
  Expected<std::string> restore();
  /// The new ones stay for good.
  void keep();

 private:
  SystemWeights() = default;
  Expected<void> start_guard();
  [[noreturn]] void guard(int channel) const;
  void end_guard();
  void close_state();

  std::vector<SavedWeight> saved_;
  int state_ = -1;    ///< the file, locked as long as this process or the guard lives; -1: none
  int channel_ = -1;  ///< to the guard; -1 when nothing is held any more
  int guard_ = -1;    ///< its process
};

}  // namespace numatlas

// What `numatlas transfer` is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cli_forward.h"
#include "kernels/kernel.h"
#include "placement/placement.h"

namespace numatlas {

/// Where the thread that queues a GPU's work runs: near the GPU, on the farthest node with CPUs, or
/// near the memory.
enum class Caller { near, far, memory };

struct TransferOptions {
  bool copies = false, latency = false, chase = false, peer = false;
  bool all = false;                     ///< of these, what the machine has: nobody named them
  std::vector<int> gpus;                ///< empty: all
  bool together = false;                ///< the copies of all GPUs at the same time
  std::vector<std::string> directions;  ///< "h2d", "d2h", "both"
  std::vector<Pinning> pinnings;
  std::vector<Bytes> sizes;  ///< of a copy; empty: the usual one, or what has room
  std::vector<Bytes> latency_sizes, chase_sizes;
  std::vector<HostCaches> caches;
  Caller caller = Caller::near;
};

/// The options as typed.
class TransferWords {
 public:
  void add_to(CLI::App& app);
  /// Errors name the option.
  Expected<TransferOptions> parse() const;

 private:
  std::string measure_, gpus_, direction_ = "h2d,d2h,both", pin_ = "pinned", size_;
  std::string latency_size_ = "4KiB,64KiB", chase_size_ = "256KiB,64MiB", caches_ = "cold";
  std::string caller_ = "near";
  bool together_ = false;
};

}  // namespace numatlas

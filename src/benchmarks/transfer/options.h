// What `numatlas transfer` is asked for.
#pragma once

#include <optional>
#include <string>
#include <utility>
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
  bool all = false;       ///< of these, what the machine has: nobody named them
  std::vector<int> gpus;  ///< empty: all
  bool together = false;  ///< the copies of all GPUs at the same time
  std::vector<std::string> directions{"h2d", "d2h", "both"};
  std::vector<Pinning> pinnings{Pinning::pinned};
  std::vector<Bytes> sizes;  ///< of a copy; empty: the usual one, or what has room
  std::vector<Bytes> latency_sizes, chase_sizes;
  std::vector<HostCaches> caches{HostCaches::cold};
  Caller caller = Caller::near;
};

/// The options as declared.
class TransferWords {
 public:
  void add_to(CLI::App& app);
  /// Errors name the option.
  Expected<TransferOptions> parse() const;

 private:
  std::vector<bool TransferOptions::*> measures_;
  /// Options that only one measure has a use for.
  std::vector<std::pair<const CLI::Option*, bool TransferOptions::*>> special_;
  TransferOptions options_;  ///< but for the texts
  std::string gpus_, size_, latency_size_ = "4KiB,64KiB", chase_size_ = "256KiB,64MiB";
};

}  // namespace numatlas

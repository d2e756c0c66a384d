// What `numatlas transfer` is asked for, its points, and how they are shown. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/benchmark.h"
#include "run/device_flows.h"

namespace numatlas::benchmark_transfer {

struct Options {
  bool copies = false, latency = false, chase = false, peer = false;
  bool all = false;       ///< of these, what the machine has: nobody named them
  std::vector<int> gpus;  ///< empty: all
  bool together = false;  ///< the copies of all GPUs at the same time
  std::vector<std::string> directions{"h2d", "d2h", "both"};
  std::vector<Pinning> pinnings{Pinning::pinned};
  std::vector<Bytes> sizes;  ///< of a copy; empty: the usual one, or what has room
  std::vector<Bytes> latency_sizes, chase_sizes;
  Caller caller = Caller::near;

  std::vector<bool Options::*> measures;
  /// Options that only one measure has a use for.
  std::vector<std::pair<const CLI::Option*, bool Options::*>> special;
  std::string gpus_text, size_text, latency_size_text = "4KiB,64KiB",
                                    chase_size_text = "256KiB,64MiB";
};

Expected<Plan> plan(const Options& own, const PlanInput& input);

/// GPUs with their links; memory against GPUs for each direction, pinning and kind of pages, with
/// the best place for each GPU; chases, copies between GPUs, the cost of pinning.
std::vector<View> views(const RunReport& report);

/// Every rate and latency; of each GPU its best place for each direction is shown.
std::vector<Fact> facts(const RunReport& report);

}  // namespace numatlas::benchmark_transfer

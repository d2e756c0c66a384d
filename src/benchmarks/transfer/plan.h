// The points of `numatlas transfer`. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/transfer/options.h"
#include "run/benchmark.h"

namespace numatlas {

class TransferPlan {
 public:
  TransferPlan(const PlanInput& input, const TransferOptions& options)
      : input_(input), options_(options) {}
  Expected<std::vector<PlannedScenario>> make();

 private:
  /// What tells a point from the others.
  struct Case {
    std::string measure;  ///< "copies", "latency", "chase", "peer"
    PageKind pages = PageKind::base;
    Pinning pinning = Pinning::pinned;
    HostCaches caches = HostCaches::cold;
    Bytes size;
    std::string direction;
    MemoryPlacement memory;
    std::vector<int> gpus;
  };
  using Flows = std::vector<Flow>;

  Expected<void> find_gpus();
  Expected<void> find_memories();
  void add_all(Bytes size);
  /// Points of all that the options name beside what is named here.
  void add(const std::string& measure, const std::vector<Bytes>& sizes,
           const std::vector<std::string>& directions, const std::vector<std::vector<int>>& groups);
  void add_peers(Bytes size);
  void add_point_of(const Case& now);
  PlannedScenario head(const Case& now) const;
  void add_flows(const Case& now, int host, Flows& flows, std::optional<Error>& skip) const;
  std::optional<Flow> flow_at(int host, int gpu, const Case& now, std::set<int>& taken,
                              std::optional<Error>& skip) const;
  Flow copy_flow(int worker, int from, int to, const Case& now, MemoryPlacement memory) const;

  const PlanInput& input_;
  const TransferOptions& options_;
  std::vector<int> gpus_;
  std::vector<MemoryPlacement> memories_;
  std::vector<PlannedScenario> plan_;
};

/// GPUs with their links; memory against GPUs for each direction, pinning and kind of pages, with
/// the best place for each GPU; chases, copies between GPUs, the cost of pinning.
std::vector<View> transfer_views(const RunReport& report);

}  // namespace numatlas

// The points of `numatlas transfer`. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/benchmark.h"
#include "benchmarks/transfer/options.h"

namespace numatlas {

class TransferPlan {
 public:
  TransferPlan(const PlanInput& input, const TransferOptions& options)
      : input_(input), options_(options) {}
  Expected<std::vector<PlannedScenario>> make();

 private:
  /// What tells a point from the others.
  struct Case {
    PageKind pages = PageKind::base;
    Bytes size;
    Pinning pinning = Pinning::pinned;
    std::string direction;
    MemoryPlacement memory;
    HostCaches caches = HostCaches::cold;
    int depth = 0;
  };
  using Flows = std::vector<Flow>;

  Expected<void> find_gpus();
  Expected<void> find_memories();
  std::vector<std::vector<int>> groups() const;
  void add_all(Bytes size);
  void add_copies(const std::vector<Bytes>& sizes);
  void add_latency();
  void add_chases();
  void add_peers();
  PlannedScenario head(const std::string& measure, const Case& now,
                       const std::vector<int>& gpus) const;
  void add_copy_point(const std::string& measure, const Case& now, const std::vector<int>& gpus);
  void add_flows(const Case& now, const std::vector<int>& gpus, int host, Flows& flows,
                 std::string& skip) const;
  std::optional<Flow> flow_at(int host, int gpu, const Case& now, std::set<int>& taken,
                              std::string& skip) const;
  Flow copy_flow(int worker, int from, int to, const Case& now, MemoryPlacement memory) const;

  const PlanInput& input_;
  const TransferOptions& options_;
  std::vector<int> gpus_;
  std::vector<MemoryPlacement> memories_;
  std::vector<PlannedScenario> plan_;
};

}  // namespace numatlas

#include "run/twins.h"

#include <algorithm>
#include <utility>

#include "engine/sharing.h"

namespace numatlas {
namespace {

/// As it counts for the work: local memory is that of the node of the CPUs that touch it.
Region plain(Region region, NodeId local) {
  const bool here = region.placement.mode == MemoryMode::local && local.value >= 0;
  if (here) region.placement = {MemoryMode::bind, {{local, 1}}};
  region.local_node = {};
  return region;
}

/// Nothing for cases that do more than run flows of CPUs for a while.
std::optional<std::vector<Flow>> work_of(const BenchmarkRun& benchmark, const CaseRun& run) {
  if (run.count != 1 || run.skipped || run.once) return std::nullopt;
  const Setup& setup = benchmark.setup();
  const Scenario& scenario = setup.plan[run.first].scenario;
  if (scenario.stop.whole_passes || scenario.flows.empty()) return std::nullopt;
  std::vector<Flow> work = scenario.flows;
  for (Flow& flow : work) {
    if (on_gpu(flow.kernel)) return std::nullopt;
    const auto toucher = static_cast<std::size_t>(toucher_of(flow));
    const NodeId local = setup.layout.workers[toucher].placement.cpu_node;
    flow.worker = benchmark.worker_of_session(flow.worker);
    if (flow.first_touch) flow.first_touch = benchmark.worker_of_session(*flow.first_touch);
    // Another one at each visit.
    flow.kernel.seed = 0;
    flow.region = plain(flow.region, local);
    if (flow.source) flow.source = plain(*flow.source, local);
  }
  return work;
}

}  // namespace

void Twins::add(BenchmarkRun& benchmark, std::size_t first) {
  for (std::size_t i = first; i < benchmark.cases().size(); ++i) {
    CaseRun& run = benchmark.case_at(i);
    auto flows = work_of(benchmark, run);
    if (!flows) continue;
    const std::tuple kind{flows->size(), flows->front().region.bytes.value,
                          name_of(flows->front().kernel)};
    const auto [begin, end] = works_.equal_range(kind);
    const auto twin = std::find_if(begin, end, [&](const auto& one) {
      return one.second.flows == *flows && one.second.last != &benchmark;
    });
    if (twin == end) {
      works_.emplace(kind, Work{*std::move(flows), run.done, &benchmark});
      continue;
    }
    run.done = twin->second.done;
    twin->second.last = &benchmark;
  }
}

}  // namespace numatlas

#include "run/file_flows.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

using WorkerOfCpu = std::map<CpuId, int>;

WorkerOfCpu workers_by_cpu(const Layout& layout) {
  WorkerOfCpu workers;
  for (std::size_t i = 0; i < layout.workers.size(); ++i) {
    if (const auto cpu = layout.workers[i].placement.cpu) workers[*cpu] = static_cast<int>(i);
  }
  return workers;
}

/// What the keys do not say, once it is known where the memory is: as the other benchmarks have it.
void fill_in(const FlowEntry& entry, const PlanInput& input, Flow& flow) {
  const auto fill = [&](const char* key, auto& value, const auto& usual) {
    if (!entry.has(key)) value = usual;
  };
  const Machine& machine = machine_of(input, flow.worker);
  const CpuSet& cpus = worker_of(input, flow.worker).placement.cpus;
  KernelSpec& kernel = flow.kernel;
  auto* const chain = kernel.find<ChaseParameters>();
  fill("role", flow.role, default_role(name_of(kernel)));
  fill("stores", kernel.stores, KernelSpec{}.stores);
  // The rest of a flow that shares memory is its owner's.
  const bool owns = !entry.has("shares");
  if (owns) {
    fill("pages", flow.region.pages, input.pages.front());
    if (auto* const line = kernel.find<PingPongParameters>())
      fill("lines", line->lines, PingPongParameters{}.lines);
  }
  if (owns && chain != nullptr) {
    fill("order", chain->order, ChainSpec{}.order);
    fill("chains", chain->chains, ChainSpec{}.chains);
    fill("tail_group", chain->tail_group, ChaseParameters{}.tail_group);
    fill("stride", chain->stride, line_bytes(machine, cpus));
    fill("window", chain->page, page_bytes(machine, flow.region.pages));
    fill("verify", chain->verify_full,
         input.options.verify == Verify::full || is_walked_whole(flow));
  }
  if (flow.source) fill("source.pages", flow.source->pages, flow.region.pages);
  if (owns && traits_of(kernel).chases())
    fill("seed", kernel.seed, input.options.seed + static_cast<std::uint64_t>(flow.worker));
  fill("warm_up", flow.warm_up, warm_up_bytes(machine, cpus, flow));
}

/// A flow with memory of its own.
Expected<Flow> own_flow(const FlowEntry& entry, std::size_t index, int worker,
                        const WorkerOfCpu& workers, const PlanInput& input) {
  const WorkerPlacement& place = worker_of(input, worker).placement;
  const Machine& machine = machine_of(input, worker);
  Flow flow = entry.flow;
  flow.worker = worker;
  flow.region.placement = TRY(memory_of(entry, "memory", index, place.memory, machine, place.cpus));
  if (flow.source)
    flow.source->placement =
        TRY(memory_of(entry, "source.memory", index, flow.region.placement, machine, place.cpus));
  if (entry.has("first_touch")) flow.first_touch = workers.at(entry.first_touch);
  if (entry.has("seed")) flow.kernel.seed += index;
  fill_in(entry, input, flow);
  return flow;
}

/// What a flow says of the memory that it shares is what its owner says.
void share(const std::vector<Flow>& flows, std::size_t owner, const FlowEntry& entry,
           const PlanInput& input, Flow& flow) {
  flow.shares = static_cast<int>(owner);
  flow.region = flows[owner].region;
  if (entry.has("size")) flow.region.bytes = entry.flow.region.bytes;
  const KernelSpec& its = flows[owner].kernel;
  auto* const chain = flow.kernel.find<ChainSpec>();
  if (const auto* const same = its.find<ChainSpec>(); chain != nullptr && same != nullptr) {
    *chain = *same;
    flow.kernel.seed = its.seed;
  }
  auto* const line = flow.kernel.find<PingPongParameters>();
  if (const auto* const same = its.find<PingPongParameters>(); line != nullptr && same != nullptr)
    line->lines = same->lines;
  fill_in(entry, input, flow);
}

}  // namespace

Expected<MemoryPlacement> memory_of(const FlowEntry& entry, const std::string& key,
                                    std::size_t index, const MemoryPlacement& otherwise,
                                    const Machine& machine, const CpuSet& cpus) {
  if (!entry.has(key)) return otherwise;
  auto memory = resolve_memory(key == "memory" ? entry.memory : entry.source_memory, machine,
                               static_cast<int>(index), cpus);
  if (!memory) return fail(error_at(entry.places, key, memory.error()));
  return memory;
}

Expected<Scenario> scenario_of(const FileScenario& file, const PlanInput& input) {
  Scenario scenario{file.name, {}, input.options.stop};
  if (file.time) scenario.stop.time = *file.time;
  const WorkerOfCpu workers = workers_by_cpu(input.layout);
  std::map<CpuId, std::size_t> flow_of_cpu;
  std::vector<std::pair<std::size_t, const FlowEntry*>> sharing;
  for (const FlowEntry& flow : file.flows) {
    for (std::size_t i = 0; i < flow.cpus.size(); ++i) {
      auto own = TRY(own_flow(flow, i, workers.at(flow.cpus[i]), workers, input));
      flow_of_cpu[flow.cpus[i]] = scenario.flows.size();
      if (flow.has("shares")) sharing.emplace_back(scenario.flows.size(), &flow);
      scenario.flows.push_back(std::move(own));
    }
  }
  for (const auto& [index, flow] : sharing)
    share(scenario.flows, flow_of_cpu.at(flow->shares), *flow, input, scenario.flows[index]);
  return scenario;
}

}  // namespace numatlas

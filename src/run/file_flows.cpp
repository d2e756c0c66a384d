#include "run/file_flows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

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

/// Past all caches, as the other benchmarks have it; a line of a ping-pong is in one page.
/// `together`: the workers of all flows.
Bytes usual_size(const PlanInput& input, const std::vector<int>& together, const Flow& flow) {
  const Machine& machine = machine_of(input, flow.worker);
  const NodeSet nodes = flow.region.placement.in_force().node_set();
  const KernelTraits& is = traits_of(flow.kernel);
  if (is.is_ping_pong()) return page_bytes(machine, PageKind::base);
  const Bytes size = is.chases() ? chase_size_past_caches(
                                       machine, worker_of(input, flow.worker).placement.cpus, nodes)
                                 : size_past_caches(input, together, least_past_caches, nodes);
  return size_with_room(input, size, {flow});
}

/// A flow with memory of its own.
Flow own_flow(const FlowEntry& entry, std::size_t index, int worker, const WorkerOfCpu& workers,
              const std::vector<int>& together, const PlanInput& input) {
  const WorkerPlacement& place = worker_of(input, worker).placement;
  Flow flow = entry.flow;
  flow.worker = worker;
  flow.region.placement = entry.has("memory") ? entry.placed.at(index) : place.memory;
  if (flow.source)
    flow.source->placement =
        entry.has("source.memory") ? entry.source_placed.at(index) : flow.region.placement;
  if (entry.has("first_touch")) flow.first_touch = workers.at(entry.first_touch);
  if (entry.has("seed")) flow.kernel.seed += index;
  if (!entry.has("size") && !entry.has("shares"))
    flow.region.bytes = usual_size(input, together, flow);
  if (flow.source && !entry.has("source.size")) flow.source->bytes = flow.region.bytes;
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

/// A flow as a file could name it, but for who runs it. What is usual is not among its keys.
FlowEntry entry_of(const Flow& flow) {
  FlowEntry entry, usual;
  entry.flow = flow;
  entry.memory.single = flow.region.placement;
  if (flow.source) entry.source_memory.single = flow.source->placement;
  usual.flow.kernel = kernel_named(name_of(flow.kernel));
  usual.flow.role = default_role(name_of(flow.kernel));
  usual.flow.source = flow.source;
  if (usual.flow.source) usual.flow.source->bytes = flow.region.bytes;
  if (usual.flow.source) usual.flow.source->pages = flow.region.pages;
  const auto words = words_of(usual);
  for (const auto& [key, text] : words_of(entry))
    if (std::ranges::find(words, std::pair(key, text)) == words.end()) entry.keys.insert(key);
  for (const char* key : {"memory", "size"}) entry.keys.insert(key);
  if (flow.source) entry.keys.insert("source.memory");
  for (const char* key : {"seed", "window", "verify", "warm_up"}) entry.keys.erase(key);
  if (flow.shares)
    std::erase_if(entry.keys,
                  [](const std::string& key) { return key != "rate" && key != "role"; });
  return entry;
}

}  // namespace

std::string flows_text(const Scenario& scenario, const Layout& layout) {
  const auto cpus_of = [&](int worker) {
    return layout.workers[static_cast<std::size_t>(worker)].placement.cpus;
  };
  struct Alike {
    std::string text;  // without CPUs
    FlowEntry entry;
    CpuSet cpus;
  };
  std::vector<Alike> all;
  for (const Flow& flow : scenario.flows) {
    FlowEntry entry = entry_of(flow);
    const auto name = [&](const char* key, CpuId& cpu, int worker) {
      if (cpus_of(worker).empty()) return;
      cpu = cpus_of(worker).front();
      entry.keys.insert(key);
    };
    if (flow.first_touch) name("first_touch", entry.first_touch, *flow.first_touch);
    if (flow.shares)
      name("shares", entry.shares, scenario.flows[static_cast<std::size_t>(*flow.shares)].worker);
    std::string text = flow_text(entry);
    const auto same = std::ranges::find(all, text, &Alike::text);
    if (same != all.end())
      same->cpus = same->cpus | cpus_of(flow.worker);
    else
      all.push_back({std::move(text), std::move(entry), cpus_of(flow.worker)});
  }
  std::vector<std::string> texts;
  for (auto& [text, entry, cpus] : all) {
    entry.cpus_asked = to_list(cpus);
    texts.push_back(flow_text(entry));
    if (const auto* const work = entry.flow.kernel.find<DeviceWork>())
      texts.back() += fmt::format(" gpu:{}", work->gpu);
  }
  return fmt::format("{}", fmt::join(texts, " + "));
}

Scenario scenario_of(const FileScenario& file, const PlanInput& input) {
  Scenario scenario{file.name, {}, input.options.stop};
  if (file.time) scenario.stop.time = *file.time;
  const WorkerOfCpu workers = workers_by_cpu(input.layout);
  std::map<CpuId, std::size_t> flow_of_cpu;
  std::vector<std::pair<std::size_t, const FlowEntry*>> sharing;
  std::vector<int> together;
  for (const FlowEntry& flow : file.flows)
    for (const CpuId cpu : flow.cpus) together.push_back(workers.at(cpu));
  for (const FlowEntry& flow : file.flows) {
    for (std::size_t i = 0; i < flow.cpus.size(); ++i) {
      Flow own = own_flow(flow, i, workers.at(flow.cpus[i]), workers, together, input);
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

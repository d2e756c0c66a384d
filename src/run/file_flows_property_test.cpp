// Any plan of one flow a CPU is the same after it was written to a file and read again.
#include "run/file_flows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "gpu/buffers.h"
#include "machine/source.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

/// And three GPUs.
const Machine& four_nodes() {
  static const Machine machine = [] {
    Machine made = *read_recorded_machine(
        "numa:4(memory=34359738368) l3:1(size=16777216) l2:2(size=1048576) core:1 pu:2");
    for (int gpu = 0; gpu < 3; ++gpu) made.gpus.emplace_back().index = gpu;
    return made;
  }();
  return machine;
}

bool by_chance() { return *rc::gen::arbitrary<bool>(); }

Layout some_layout() {
  std::vector<int> cpus(16);
  for (int i = 0; i < 16; ++i) cpus[static_cast<std::size_t>(i)] = i;
  std::vector<CpuId> order;
  for (int left = *rc::gen::inRange(1, 9); left > 0; --left) {
    const auto at = *rc::gen::inRange<std::size_t>(0, cpus.size());
    order.push_back(CpuId{cpus[at]});
    cpus.erase(cpus.begin() + static_cast<std::ptrdiff_t>(at));
  }
  Layout layout;
  layout.hosts = {"host"};
  for (CpuId cpu : order) {
    WorkerPlacement place;
    place.thread = static_cast<int>(layout.workers.size());
    place.cpu = cpu;
    place.cpus = {cpu};
    place.cpu_node = NodeId{cpu.value / 4};
    layout.workers.push_back({0, 0, place});
  }
  return layout;
}

MemoryPlacement some_placement() {
  const auto spec = parse_memory_spec(
      *rc::gen::element<std::string>("local", "inherit", "bind:0", "bind:1", "bind:2,3", "prefer:3",
                                     "interleave:0-3", "weighted:0=3,2=1", "pmem:/mnt/a b, c",
                                     "dax:/dev/dax0.0", "memkind:DEFAULT", "memkind:/mnt/x"));
  return spec->single;
}

Region some_region() {
  Region region;
  region.bytes = Bytes{64 * kib * *rc::gen::inRange<std::uint64_t>(1, 10'000)};
  region.placement = some_placement();
  region.pages =
      *rc::gen::element(PageKind::base, PageKind::base, PageKind::thp, PageKind::huge_1g);
  return region;
}

Flow some_flow_of(int worker, int workers) {
  Flow flow;
  flow.worker = worker;
  const auto kernel =
      *rc::gen::element<std::string>("chase", "chase", "read", "copy", "triad", "update", "mix");
  flow.kernel = kernel_named(kernel);
  flow.region = some_region();
  const CpuSet cpus{CpuId{worker}};
  if (kernel == "chase") {
    auto& chain = flow.kernel.as<ChaseParameters>();
    chain.order = *rc::gen::element(ChainOrder::random, ChainOrder::page_local);
    chain.stride = Bytes{64 * *rc::gen::inRange<std::uint64_t>(1, 4)};
    chain.page = page_size_of(flow.region.pages, Bytes{4096});
    if (chain.order == ChainOrder::page_local && by_chance()) chain.page = Bytes{16384};
    flow.kernel.seed =
        by_chance() ? 1 + static_cast<std::uint64_t>(worker) : *rc::gen::arbitrary<std::uint64_t>();
    chain.verify_full = by_chance();
  } else if (kernel != "read" && by_chance()) {
    flow.kernel.stores = Stores::non_temporal;
  }
  if (auto* const mix = flow.kernel.find<MixParameters>()) {
    mix->reads = *rc::gen::inRange(1u, 5u);
    mix->writes = *rc::gen::inRange(1u, 5u);
  }
  if ((kernel == "copy" || kernel == "triad") && by_chance()) flow.source = some_region();
  if (by_chance()) flow.first_touch = *rc::gen::inRange(0, workers);
  if (by_chance()) flow.rate = 1e6 * *rc::gen::inRange(7, 100'000) / 7;
  flow.warm_up = by_chance() ? warm_up_bytes(four_nodes(), cpus, flow)
                             : Bytes{*rc::gen::inRange<std::uint64_t>(0, gib)};
  return flow;
}

Region gpu_side(Bytes bytes, int gpu) {
  Region region;
  region.bytes = bytes;
  region.placement = gpu_memory(gpu);
  return region;
}

Flow some_device_flow(int worker) {
  Flow flow;
  flow.worker = worker;
  flow.region = some_region();
  const Bytes size = flow.region.bytes;
  const DeviceWork of_gpu{*rc::gen::inRange(0, 3), Pinning::pinned};
  flow.kernel.seed =
      by_chance() ? 1 + static_cast<std::uint64_t>(worker) : *rc::gen::arbitrary<std::uint64_t>();
  if (by_chance()) {
    DeviceChaseParameters work{of_gpu};
    work.loads = by_chance() ? usual_loads(size) : *rc::gen::inRange<std::uint64_t>(1, 9000);
    work.caches = *rc::gen::element(HostCaches::cold, HostCaches::warm);
    flow.kernel.parameters = work;
  } else {
    DeviceCopyParameters work{of_gpu, 0, 1, size};
    work.depth = *rc::gen::inRange(0, 3);
    work.copies =
        by_chance() ? usual_copies(size, work.depth) : *rc::gen::inRange<std::uint64_t>(1, 1 << 10);
    flow.source = gpu_side(size, work.gpu);
    const int way = *rc::gen::inRange(0, 3);
    if (way == 0) flow.region = gpu_side(size, (work.gpu + 1) % 3);
    if (way == 1) std::swap(flow.region, *flow.source);
    if (way > 0) {
      work.pinning =
          *rc::gen::elementOf(std::vector<Pinning>(all_pinnings.begin(), all_pinnings.end()));
    }
    flow.kernel.parameters = work;
    if (by_chance()) flow.rate = 1e6 * *rc::gen::inRange(7, 100'000) / 7;
  }
  flow.warm_up =
      by_chance() ? device_warm_up(flow) : Bytes{*rc::gen::inRange<std::uint64_t>(0, gib)};
  return flow;
}

/// The other side of a ping-pong, or one more that reads the same.
Flow sharing(const Scenario& scenario, int owner, int worker) {
  Flow flow;
  flow.worker = worker;
  const Flow& other = scenario.flows[static_cast<std::size_t>(owner)];
  flow.kernel = other.kernel;
  if (auto* const line = flow.kernel.find<PingPongParameters>()) {
    line->answers = true;
    flow.role = Role::load;
  }
  flow.region = other.region;
  flow.shares = owner;
  flow.warm_up = Bytes{by_chance() ? 0u : 4096u};
  return flow;
}

PlannedScenario some_point(const Layout& layout) {
  PlannedScenario planned;
  Scenario& scenario = planned.scenario;
  scenario.name = "point";
  scenario.stop.time = Nanoseconds(*rc::gen::inRange<std::int64_t>(1, 1LL << 40));
  if (by_chance()) planned.head.precision = *rc::gen::inRange(1, 1000) / 1000.0;
  const auto workers = static_cast<int>(layout.workers.size());
  for (int worker = 0; worker < workers; ++worker) {
    if (!scenario.flows.empty() && *rc::gen::inRange(0, 4) == 0) continue;
    Flow flow =
        *rc::gen::inRange(0, 3) == 0 ? some_device_flow(worker) : some_flow_of(worker, workers);
    // Workers one after the other with the same to do, as benchmarks have them.
    if (!scenario.flows.empty() && by_chance()) {
      flow = scenario.flows.back();
      flow.worker = worker;
      if (by_chance()) ++flow.kernel.seed;
      const bool of_gpu = gpu_of(flow.region.placement) >= 0;
      if (by_chance() && !of_gpu) flow.region.placement = some_placement();
      if (!traits_of(flow.kernel).chases() && !on_gpu(flow.kernel)) flow.kernel.seed = 1;
    }
    flow.shares.reset();
    if (!scenario.flows.empty()) flow.role = by_chance() ? Role::load : Role::measured;
    scenario.flows.push_back(flow);
  }
  if (by_chance()) std::reverse(scenario.flows.begin(), scenario.flows.end());
  return planned;
}

/// One pair more on the two last workers that are not taken.
void add_pair(PlannedScenario& planned, const Layout& layout) {
  std::vector<int> idle;
  for (int worker = 0; worker < static_cast<int>(layout.workers.size()); ++worker) {
    const auto& flows = planned.scenario.flows;
    const bool works = std::any_of(flows.begin(), flows.end(),
                                   [&](const Flow& flow) { return flow.worker == worker; });
    if (!works) idle.push_back(worker);
  }
  if (idle.size() < 2) return;
  Flow owner;
  owner.worker = idle[0];
  owner.kernel = kernel_named(by_chance() ? "cas" : "read");
  owner.region.bytes = Bytes{4096};
  planned.scenario.flows.push_back(owner);
  const int index = static_cast<int>(planned.scenario.flows.size()) - 1;
  planned.scenario.flows.push_back(sharing(planned.scenario, index, idle[1]));
}

RC_GTEST_PROP(FileFlowsProperty, PlansAreTheSameAfterAFile, ()) {
  const Layout layout = some_layout();
  const std::vector<Machine> machines{four_nodes()};
  const RunOptions options;
  const PlanInput input{options, layout, machines, {PageKind::base}};
  std::vector<PlannedScenario> plan;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    plan.push_back(some_point(layout));
    add_pair(plan.back(), layout);
  }
  const auto file = file_of(plan, input);
  if (!file) RC_FAIL(full_text(file.error()));
  const std::string text = text_of(*file, {"head"});
  const auto read = parse_scenarios(text, "f");
  if (!read) RC_FAIL(full_text(read.error()) + "\n" + text);
  std::vector<CpuId> cpus;
  for (const Worker& worker : layout.workers) cpus.push_back(*worker.placement.cpu);
  RC_ASSERT((read->cpus.empty() ? cpus_named(*read) : read->cpus) == cpus);
  RC_ASSERT(read->scenarios.size() == plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto again = scenario_of(read->scenarios[i], input);
    if (!again) RC_FAIL(full_text(again.error()) + "\n" + text);
    RC_ASSERT(again->flows.size() == plan[i].scenario.flows.size());
    for (std::size_t flow = 0; flow < again->flows.size(); ++flow) {
      if (!(again->flows[flow] == plan[i].scenario.flows[flow]))
        RC_FAIL("flow " + std::to_string(flow) + " is another:\n" + text);
    }
    RC_ASSERT(*again == plan[i].scenario);
    RC_ASSERT(read->scenarios[i].precision.value_or(options.precision) ==
              plan[i].head.precision.value_or(options.precision));
  }
}

}  // namespace
}  // namespace numatlas

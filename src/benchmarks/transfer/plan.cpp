#include "benchmarks/transfer/plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "benchmarks/axes.h"
#include "benchmarks/transfer/callers.h"
#include "gpu/buffers.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas {
namespace {

// Long against whatever happens once a copy, and short enough for many of them in a visit: on
// an H200 as fast as 512 MiB (docs/performance.md).
constexpr Bytes usual_copy{128 * mib};

std::string list_of(const std::vector<int>& gpus) {
  return fmt::format("{}", fmt::join(gpus, ","));
}

}  // namespace

Expected<void> TransferPlan::find_gpus() {
  const std::set<int> there = usable_gpus(input_.machines);
  if (options_.gpus.empty()) gpus_.assign(there.begin(), there.end());
  for (int gpu : options_.gpus) {
    if (!there.contains(gpu)) return fail(about("--gpus", no_such_gpu(gpu, there)));
    if (std::find(gpus_.begin(), gpus_.end(), gpu) == gpus_.end()) gpus_.push_back(gpu);
  }
  return {};
}

/// The placement asked for; else each node with memory.
Expected<void> TransferPlan::find_memories() {
  const auto& asked = input_.options.placement.memory;
  // What numactl asked for, as every command takes it.
  const MemoryPlacement& inherited = input_.layout.workers.front().placement.memory;
  if (!asked && inherited.mode == MemoryMode::inherit) {
    memories_ = {inherited};
    return {};
  }
  if (!asked) {
    // Memory of a GPU that is a node is the host's as well, but a copy there crosses no link.
    for (NodeId node : ordinary_memory_nodes(input_)) memories_.push_back(bound_to(node));
    if (!memories_.empty()) return {};
    return fail(ErrorKind::unavailable, "no node has memory that this process may use");
  }
  if (asked->form != MemorySpec::Form::single) {
    return fail_usage("--memory", "copies of a GPU have one place in the host's memory",
                      "name one: bind:0, interleave:0,1, weighted:0=3,2=1, local");
  }
  for (const Machine& machine : input_.machines) {
    TRY(resolve_memory(*asked, machine, 0));
  }
  memories_ = {with_all_nodes(*asked, input_.machines.front()).single};
  return {};
}

PlannedScenario TransferPlan::head(const Case& now) const {
  PlannedScenario planned = new_point(input_, "", now.size, now.pages);
  const std::string memory = now.memory.text(), gpus = list_of(now.gpus);
  const std::string size = compact_text(now.size), pages = name_of(now.pages);
  ScenarioResult& head = planned.head;
  head.kernel = now.measure == "chase" ? device_chase : device_copy;
  head.labels = {{"measure", now.measure}, {"gpus", gpus}};
  if (now.measure == "peer") {
    head.name = fmt::format("gpu {} -> gpu {} {}", now.gpus[0], now.gpus[1], size);
    head.labels.emplace_back("from_gpu", std::to_string(now.gpus[0]));
    head.labels.emplace_back("to_gpu", std::to_string(now.gpus[1]));
  } else if (now.measure == "chase") {
    head.name = fmt::format("chase {} from gpu {} {} {} {}", memory, gpus, name_of(now.caches),
                            size, pages);
    head.order = name_of(ChainOrder::random);
    head.stride = usual_line;
    head.labels.emplace_back("memory", memory);
    head.labels.emplace_back("caches", name_of(now.caches));
  } else {
    head.name = fmt::format("{}{} {} gpu {} {} {} {}", now.measure == "latency" ? "latency " : "",
                            now.direction, memory, gpus, name_of(now.pinning), size, pages);
    head.labels.emplace_back("memory", memory);
    head.labels.emplace_back("direction", now.direction);
    head.labels.emplace_back("pinning", name_of(now.pinning));
  }
  if (now.measure == "chase" || now.measure == "latency")
    planned.size_option = fmt::format("--{}-size", now.measure);
  planned.scenario.stop.to_the_end = now.measure == "copies" || now.measure == "peer";
  planned.optional = !input_.options.placement.memory || options_.pinnings.size() > 1;
  return planned;
}

Flow TransferPlan::copy_flow(int worker, int from, int to, const Case& now,
                             MemoryPlacement memory) const {
  Flow flow = plain_flow(input_, device_copy, worker, now.size, now.pages);
  flow.kernel.chain.seed = input_.options.seed + static_cast<std::uint64_t>(worker);
  DeviceWork& work = flow.kernel.device;
  work.gpu = from >= 0 ? from : to;
  work.pinning = now.pinning;
  if (now.measure == "latency") work.depth = 1;  // each is waited for
  work.bytes = now.size;
  work.copies = usual_copies(now.size, work.depth);
  const auto region = [&](int gpu) {
    Region side;
    side.bytes = now.size;
    side.placement = gpu >= 0 ? gpu_memory(gpu) : memory;
    if (gpu < 0) side.pages = now.pages;
    return side;
  };
  flow.region = region(to);
  flow.source = region(from);
  flow.warm_up = device_warm_up(flow);
  return flow;
}

/// One direction of one GPU's copies on a host; nullopt, and why, where it cannot be.
std::optional<Flow> TransferPlan::flow_at(int host, int gpu, const Case& now, std::set<int>& taken,
                                          std::optional<Error>& skip) const {
  const bool of_driver = now.pinning == Pinning::driver || now.pinning == Pinning::managed;
  if (of_driver && now.pages != PageKind::base) {
    skip = Error{ErrorKind::unavailable,
                 fmt::format("--pin {} has base pages only", name_of(now.pinning)), ""};
    return std::nullopt;
  }
  const Machine& machine = input_.machines[static_cast<std::size_t>(host)];
  const auto worker =
      caller_for(input_, host, *find_gpu(machine, gpu), now.memory, options_.caller, taken);
  if (!worker) {
    skip = Error{ErrorKind::unavailable, "too few workers to submit all these copies", "",
                 "--threads"};
    return std::nullopt;
  }
  taken.insert(*worker);
  MemorySpec spec;
  spec.single = now.memory;
  const WorkerPlacement& place = worker_of(input_, *worker).placement;
  const bool inherits = now.memory.mode == MemoryMode::inherit && now.memory.source.empty();
  auto memory = inherits ? Expected<MemoryPlacement>(place.memory)
                         : resolve_memory(spec, machine, 0, place.cpus);
  if (!memory) {
    skip = memory.error();
    return std::nullopt;
  }
  const bool to_gpu = now.direction == "h2d";
  Flow flow = copy_flow(*worker, to_gpu ? -1 : gpu, to_gpu ? gpu : -1, now, *std::move(memory));
  if (now.measure != "chase") return flow;
  flow.kernel.name = device_chase;
  flow.region = *flow.source;
  flow.source.reset();
  flow.kernel.device.copies = 1;
  flow.kernel.device.caches = now.caches;
  flow.kernel.device.loads = usual_loads(now.size);
  flow.warm_up = device_warm_up(flow);
  return flow;
}

void TransferPlan::add_flows(const Case& now, int host, Flows& flows,
                             std::optional<Error>& skip) const {
  const Machine& machine = input_.machines[static_cast<std::size_t>(host)];
  const auto is_here = [&](int gpu) { return find_gpu(machine, gpu) != nullptr; };
  if (now.measure == "peer") {
    if (!std::all_of(now.gpus.begin(), now.gpus.end(), is_here)) return;
    const Gpu& from = *find_gpu(machine, now.gpus[0]);
    if (const auto worker = caller_for(input_, host, from, now.memory, options_.caller, {}))
      flows.push_back(copy_flow(*worker, now.gpus[0], now.gpus[1], now, now.memory));
    return;
  }
  std::set<int> taken;
  for (int gpu : now.gpus) {
    for (const char* direction : {"h2d", "d2h"}) {
      if (!is_here(gpu) || (now.direction != "both" && now.direction != direction)) continue;
      Case one = now;
      one.direction = direction;
      if (auto flow = flow_at(host, gpu, one, taken, skip)) flows.push_back(*std::move(flow));
    }
  }
}

void TransferPlan::add_point_of(const Case& now) {
  PlannedScenario planned = head(now);
  for (std::size_t host = 0; host < input_.machines.size(); ++host)
    add_flows(now, static_cast<int>(host), planned.scenario.flows, planned.skip);
  add_point(plan_, std::move(planned));
}

void TransferPlan::add(const std::string& measure, const std::vector<Bytes>& sizes,
                       const std::vector<std::string>& directions,
                       const std::vector<std::vector<int>>& groups) {
  const bool chase = measure == "chase";
  const auto pinnings = chase ? std::vector{Pinning::pinned} : options_.pinnings;
  const auto caches_of = chase ? options_.caches : std::vector{HostCaches::cold};
  for_each_of(
      [&](const auto&... axes) {
        add_point_of({measure, axes...});
      },
      input_.pages, pinnings, caches_of, sizes, directions, memories_, groups);
}

void TransferPlan::add_peers(Bytes size) {
  for (int from : gpus_) {
    for (int to : gpus_) {
      Case now;
      now.measure = "peer";
      now.size = size;
      now.gpus = {from, to};
      if (from != to) add_point_of(now);
    }
  }
}

void TransferPlan::add_all(Bytes size) {
  plan_.clear();
  std::vector<std::vector<int>> alone;
  for (int gpu : gpus_) alone.push_back({gpu});
  std::vector<std::string> one_way = options_.directions;
  std::erase(one_way, "both");
  const auto groups = options_.together ? std::vector<std::vector<int>>{gpus_} : alone;
  if (options_.copies) {
    add("copies", options_.sizes.empty() ? std::vector{size} : options_.sizes, options_.directions,
        groups);
  }
  if (options_.latency) add("latency", options_.latency_sizes, one_way, groups);
  if (options_.chase) add("chase", options_.chase_sizes, {"h2d"}, alone);
  if (!options_.peer) return;
  for (Bytes each : options_.sizes.empty() ? std::vector{usual_copy} : options_.sizes)
    add_peers(each);
}

Expected<std::vector<PlannedScenario>> TransferPlan::make() {
  TRY(find_gpus());
  TRY(find_memories());
  if (options_.peer && !options_.all && gpus_.size() < 2) {
    return fail_about(
        ErrorKind::unavailable, "--measure peer",
        fmt::format("copies between GPUs require two, but there {} {}",
                    gpus_.size() == 1 ? "is only GPU" : "are only GPUs", list_of(gpus_)));
  }
  add_all(usual_copy);
  if (options_.sizes.empty()) {
    Bytes size = size_with_room(input_, usual_copy, plan_);
    for (const Machine& machine : input_.machines) {
      for (int index : gpus_) {
        const Gpu* gpu = find_gpu(machine, index);
        if (gpu == nullptr || !gpu->memory) continue;
        // Both directions have memory there, and so may others.
        const std::uint64_t part = std::bit_floor(std::max(mib, gpu->memory->value / 8));
        size = std::min(size, Bytes{part});
      }
    }
    add_all(size);
  }
  return std::move(plan_);
}

}  // namespace numatlas

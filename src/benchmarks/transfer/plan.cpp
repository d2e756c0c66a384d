#include "benchmarks/transfer/transfer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/product.h"
#include "base/units.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::benchmark_transfer {

namespace {

// Long against whatever happens once a copy, and short enough for many of them in a visit: on
// an H200 as fast as 512 MiB (docs/performance.md).
constexpr Bytes usual_copy{128 * mib};

std::string list_of(const std::vector<int>& gpus) {
  return fmt::format("{}", fmt::join(gpus, ","));
}

/// What tells a point from the others.
struct Case {
  std::string measure;  ///< "copies", "latency", "chase", "peer"
  PageKind pages = PageKind::base;
  Pinning pinning = Pinning::pinned;
  Bytes size = {};
  std::string direction = {};
  MemoryPlacement memory = {};
  std::vector<int> gpus = {};
};

/// The placement asked for; else each node with memory.
Expected<std::vector<MemoryPlacement>> find_memories(const PlanInput& input) {
  const auto& asked = input.options.placement.memory;
  // What numactl asked for, as every command takes it.
  const MemoryPlacement& inherited = input.layout.workers.front().placement.memory;
  if (!asked && inherited.mode == MemoryMode::inherit) {
    return std::vector{inherited};
  }
  if (!asked) {
    std::vector<MemoryPlacement> memories;
    // Memory of a GPU that is a node is the host's as well, but a copy there crosses no link.
    for (NodeId node : ordinary_memory_nodes(input)) memories.push_back(bound_to(node));
    if (!memories.empty()) return memories;
    return fail(ErrorKind::unavailable, "no node has memory that this process may use");
  }
  if (asked->form != MemorySpec::Form::single) {
    return fail_usage("--memory", "copies of a GPU have one place in the host's memory",
                      "name one: bind:0, interleave:0,1, weighted:0=3,2=1, local");
  }
  for (const Machine& machine : input.machines) {
    TRY(of_option("--memory", resolve_memory(*asked, machine, 0)));
  }
  return std::vector{with_all_nodes(*asked, input.machines.front()).single};
}

PlannedScenario head(const Options& own, const PlanInput& input, const Case& now) {
  PlannedScenario planned = new_point(input, "", now.size, now.pages);
  const std::string memory = now.memory.text(), gpus = list_of(now.gpus);
  const std::string size = compact_text(now.size), pages = name_of(now.pages);
  ScenarioResult& head = planned.head;
  head.kernel =
      now.measure == "chase" ? DeviceChaseParameters::name() : DeviceCopyParameters::name();
  head.labels = {{"measure", now.measure}, {"gpus", gpus}};
  if (now.measure == "peer") {
    head.name = fmt::format("gpu {} -> gpu {} {}", now.gpus[0], now.gpus[1], size);
    head.labels.emplace_back("from_gpu", std::to_string(now.gpus[0]));
    head.labels.emplace_back("to_gpu", std::to_string(now.gpus[1]));
  } else if (now.measure == "chase") {
    head.name = fmt::format("chase {} from gpu {} {} {}", memory, gpus, size, pages);
    head.order = name_of(ChainOrder::random);
    head.stride = usual_line;
    head.labels.emplace_back("memory", memory);
  } else {
    head.name = fmt::format("{}{} {} gpu {} {} {} {}", now.measure == "latency" ? "latency " : "",
                            now.direction, memory, gpus, name_of(now.pinning), size, pages);
    head.labels.emplace_back("memory", memory);
    head.labels.emplace_back("direction", now.direction);
    head.labels.emplace_back("pinning", name_of(now.pinning));
  }
  if (now.measure == "chase" || now.measure == "latency")
    planned.size_option = fmt::format("--{}-size", now.measure);
  planned.optional = !input.options.placement.memory || own.pinnings.size() > 1;
  return planned;
}

Flow copy_flow(const PlanInput& input, int worker, int from, int to, const Case& now,
               const MemoryPlacement& memory) {
  DeviceCopyParameters work;
  work.gpu = from >= 0 ? from : to;
  work.pinning = now.pinning;
  if (now.measure == "latency") work.depth = 1;  // each is waited for
  work.bytes = now.size;
  work.copies = usual_copies(now.size, work.depth);
  Flow flow = plain_flow(input, {work}, worker, now.size, now.pages);
  flow.kernel.seed = input.options.seed + static_cast<std::uint64_t>(worker);
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
std::optional<Flow> flow_at(const Options& own, const PlanInput& input, int host, int gpu,
                            const Case& now, std::set<int>& taken, std::optional<Error>& skip) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const auto worker =
      caller_for(input, host, *find_gpu(machine, gpu), now.memory, own.caller, taken);
  if (!worker) {
    skip = Error{ErrorKind::unavailable, "too few workers to submit all these copies", "",
                 "--threads"};
    return std::nullopt;
  }
  taken.insert(*worker);
  auto memory = host_memory_of(now.memory, machine, worker_of(input, *worker).placement);
  if (!memory) {
    skip = memory.error();
    return std::nullopt;
  }
  const bool to_gpu = now.direction == "h2d";
  Flow flow =
      copy_flow(input, *worker, to_gpu ? -1 : gpu, to_gpu ? gpu : -1, now, *std::move(memory));
  if (now.measure != "chase") return flow;
  flow.kernel.parameters =
      DeviceChaseParameters{*flow.kernel.find<DeviceWork>(), usual_loads(now.size)};
  flow.region = *flow.source;
  flow.source.reset();
  flow.warm_up = device_warm_up(flow);
  return flow;
}

void add_flows(const Options& own, const PlanInput& input, const Case& now, int host,
               std::vector<Flow>& flows, std::optional<Error>& skip) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const auto is_here = [&](int gpu) { return find_gpu(machine, gpu) != nullptr; };
  if (now.measure == "peer") {
    if (!std::all_of(now.gpus.begin(), now.gpus.end(), is_here)) return;
    const Gpu& from = *find_gpu(machine, now.gpus[0]);
    if (const auto worker = caller_for(input, host, from, now.memory, own.caller, {}))
      flows.push_back(copy_flow(input, *worker, now.gpus[0], now.gpus[1], now, now.memory));
    return;
  }
  std::set<int> taken;
  for (int gpu : now.gpus) {
    for (const char* direction : {"h2d", "d2h"}) {
      if (!is_here(gpu) || (now.direction != "both" && now.direction != direction)) continue;
      Case one = now;
      one.direction = direction;
      if (auto flow = flow_at(own, input, host, gpu, one, taken, skip))
        flows.push_back(*std::move(flow));
    }
  }
}

/// Copies have `size` where none is asked for.
Plan plan_of(const Options& own, const PlanInput& input, const std::vector<int>& gpus,
             const std::vector<MemoryPlacement>& memories, Bytes size) {
  Plan plan;
  const auto add = [&](const Case& now) {
    PlannedScenario planned = head(own, input, now);
    for (std::size_t host = 0; host < input.machines.size(); ++host)
      add_flows(own, input, now, static_cast<int>(host), planned.scenario.flows, planned.skip);
    add_point(plan, std::move(planned));
  };
  using Groups = std::vector<std::vector<int>>;
  // Points of all that the options name beside what is named here.
  const auto add_all = [&](const char* measure, const std::vector<Bytes>& sizes,
                           const std::vector<std::string>& directions, const Groups& groups) {
    const bool chase = measure == std::string("chase");
    for_each_of(
        [&](const auto&... axes) {
          add({measure, axes...});
        },
        input.pages, chase ? std::vector{Pinning::pinned} : own.pinnings, sizes, directions,
        memories, groups);
  };
  Groups alone;
  for (int gpu : gpus) alone.push_back({gpu});
  std::vector<std::string> one_way = own.directions;
  std::erase(one_way, "both");
  const Groups groups = own.together ? Groups{gpus} : alone;
  const auto or_usual = [&](Bytes usual) {
    return own.sizes.empty() ? std::vector{usual} : own.sizes;
  };
  if (own.copies) add_all("copies", or_usual(size), own.directions, groups);
  if (own.latency) add_all("latency", own.latency_sizes, one_way, groups);
  if (own.chase) add_all("chase", own.chase_sizes, {"h2d"}, alone);
  const auto add_peers = [&](Bytes each, int from, int to) {
    if (from != to) add({.measure = "peer", .size = each, .gpus = {from, to}});
  };
  if (own.peer) for_each_of(add_peers, or_usual(usual_copy), gpus, gpus);
  return plan;
}

}  // namespace

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  const auto gpus = TRY(of_option("--gpus", chosen_gpus(input, own.gpus)));
  const auto memories = TRY(find_memories(input));
  if (own.peer && !own.all && gpus.size() < 2) {
    return fail_about(
        ErrorKind::unavailable, "--measure peer",
        fmt::format("copies between GPUs require two, but there {} {}",
                    gpus.size() == 1 ? "is only GPU" : "are only GPUs", list_of(gpus)));
  }
  auto plan = plan_of(own, input, gpus, memories, usual_copy);
  if (!own.sizes.empty()) return plan;
  Bytes size = size_with_room(input, usual_copy, plan);
  for (const Machine& machine : input.machines) {
    for (int index : gpus) {
      const Gpu* gpu = find_gpu(machine, index);
      if (gpu == nullptr || !gpu->memory) continue;
      // Both directions have memory there, and so may others.
      const std::uint64_t part = std::bit_floor(std::max(mib, gpu->memory->value / 8));
      size = std::min(size, Bytes{part});
    }
  }
  return plan_of(own, input, gpus, memories, size);
}

}  // namespace numatlas::benchmark_transfer

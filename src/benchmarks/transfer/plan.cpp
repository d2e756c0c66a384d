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
#include "benchmarks/device_flows.h"
#include "benchmarks/flows.h"
#include "benchmarks/room.h"
#include "benchmarks/transfer/callers.h"
#include "gpu/buffers.h"

namespace numatlas {
namespace {

// As nvbandwidth has it: long against whatever happens once a copy.
constexpr Bytes usual_copy{512 * mib};

MemoryPlacement bound_to_node(NodeId node) { return {MemoryMode::bind, {{node, 1}}}; }

std::string list_of(const std::vector<int>& gpus) {
  return fmt::format("{}", fmt::join(gpus, ","));
}

}  // namespace

Expected<void> TransferPlan::find_gpus() {
  const std::set<int> there = usable_gpus(input_.machines);
  if (options_.gpus.empty()) gpus_.assign(there.begin(), there.end());
  for (int gpu : options_.gpus) {
    if (!there.contains(gpu)) {
      Error error = no_such_gpu(gpu, there);
      error.message = "--gpus: " + error.message;
      return fail(std::move(error));
    }
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
    NodeSet of_gpus;
    for (const Machine& machine : input_.machines) {
      for (const Gpu& gpu : machine.gpus) {
        if (gpu.memory_node) of_gpus.insert(*gpu.memory_node);
      }
    }
    for (NodeId node : memory_nodes(input_) - of_gpus) memories_.push_back(bound_to_node(node));
    if (!memories_.empty()) return {};
    return fail(ErrorKind::unavailable, "no node has memory that this process may use");
  }
  if (asked->form != MemorySpec::Form::single) {
    return fail(ErrorKind::usage, "--memory: copies of a GPU have one place in the host's memory",
                "name one: bind:0, interleave:0,1, weighted:0=3,2=1, local");
  }
  if (gpu_of(asked->single) >= 0) {
    return fail(ErrorKind::usage, "--memory: this is the host's side, and gpu:N is no part of it",
                "name GPUs with --gpus");
  }
  for (const Machine& machine : input_.machines) {
    if (auto there = resolve_memory(*asked, machine, 0); !there) return fail(there.error());
  }
  memories_ = {asked->single};
  return {};
}

std::vector<std::vector<int>> TransferPlan::groups() const {
  if (options_.together) return {gpus_};
  std::vector<std::vector<int>> alone;
  for (int gpu : gpus_) alone.push_back({gpu});
  return alone;
}

PlannedScenario TransferPlan::head(const std::string& measure, const Case& now,
                                   const std::vector<int>& gpus) const {
  PlannedScenario planned;
  const std::string memory = now.memory.text();
  const std::string size = compact_text(now.size);
  const std::string pages = name_of(now.pages);
  ScenarioResult& head = planned.head;
  if (measure == "peer") {
    head.name = fmt::format("gpu {} -> gpu {} {}", gpus[0], gpus[1], size);
  } else if (measure == "chase") {
    head.name = fmt::format("chase {} from gpu {} {} {} {}", memory, list_of(gpus),
                            name_of(now.caches), size, pages);
  } else {
    head.name =
        fmt::format("{}{} {} gpu {} {} {} {}", measure == "latency" ? "latency " : "",
                    now.direction, memory, list_of(gpus), name_of(now.pinning), size, pages);
  }
  head.size = now.size;
  head.pages = pages;
  head.kernel = measure == "chase" ? device_chase : device_copy;
  head.labels = {{"measure", measure}, {"gpus", list_of(gpus)}};
  if (measure != "peer") head.labels.emplace_back("memory", memory);
  if (measure == "chase") {
    head.order = name_of(ChainOrder::random);
    head.stride = usual_line;
    head.labels.emplace_back("caches", name_of(now.caches));
  } else if (measure != "peer") {
    head.labels.emplace_back("direction", now.direction);
    head.labels.emplace_back("pinning", name_of(now.pinning));
  }
  planned.scenario = {head.name, {}, input_.options.stop};
  planned.scenario.stop.to_the_end = measure == "copies" || measure == "peer";
  planned.optional = !input_.options.placement.memory || options_.pinnings.size() > 1;
  return planned;
}

Flow TransferPlan::copy_flow(int worker, int from, int to, const Case& now,
                             MemoryPlacement memory) const {
  Flow flow;
  flow.worker = worker;
  flow.kernel.name = device_copy;
  flow.kernel.chain.seed = input_.options.seed + static_cast<std::uint64_t>(worker);
  DeviceWork& work = flow.kernel.device;
  work.gpu = from >= 0 ? from : to;
  work.pinning = now.pinning;
  work.depth = now.depth;
  work.bytes = now.size;
  work.copies = usual_copies(now.size, now.depth);
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
                                          std::string& skip) const {
  const bool of_driver = now.pinning == Pinning::driver || now.pinning == Pinning::managed;
  if (of_driver && now.pages != PageKind::base) {
    skip = fmt::format("--pin {} has base pages only", name_of(now.pinning));
    return std::nullopt;
  }
  const Machine& machine = input_.machines[static_cast<std::size_t>(host)];
  const auto worker =
      caller_for(input_, host, *find_gpu(machine, gpu), now.memory, options_.caller, taken);
  if (!worker) {
    skip = "too few workers to queue all these copies: ask for more with --threads";
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
    skip = memory.error().message;
    return std::nullopt;
  }
  const bool to_gpu = now.direction == "h2d";
  return copy_flow(*worker, to_gpu ? -1 : gpu, to_gpu ? gpu : -1, now, *std::move(memory));
}

void TransferPlan::add_flows(const Case& now, const std::vector<int>& gpus, int host, Flows& flows,
                             std::string& skip) const {
  const Machine& machine = input_.machines[static_cast<std::size_t>(host)];
  std::set<int> taken;
  for (int gpu : gpus) {
    if (find_gpu(machine, gpu) == nullptr) continue;
    for (const char* direction : {"h2d", "d2h"}) {
      if (now.direction != "both" && now.direction != direction) continue;
      Case one = now;
      one.direction = direction;
      if (auto flow = flow_at(host, gpu, one, taken, skip)) flows.push_back(*std::move(flow));
    }
  }
}

void TransferPlan::add_copy_point(const std::string& measure, const Case& now,
                                  const std::vector<int>& gpus) {
  PlannedScenario planned = head(measure, now, gpus);
  Flows flows;
  for (std::size_t host = 0; host < input_.machines.size(); ++host)
    add_flows(now, gpus, static_cast<int>(host), flows, planned.skip);
  if (!planned.skip.empty()) flows.clear();
  add_point(plan_, std::move(planned), std::move(flows), false);
}

void TransferPlan::add_copies(const std::vector<Bytes>& sizes) {
  for (PageKind pages : input_.options.pages) {
    for (Pinning pinning : options_.pinnings) {
      for (Bytes size : sizes) {
        for (const std::string& direction : options_.directions) {
          for (const MemoryPlacement& memory : memories_) {
            for (const std::vector<int>& group : groups())
              add_copy_point("copies", {pages, size, pinning, direction, memory}, group);
          }
        }
      }
    }
  }
}

/// One copy at a time, each waited for.
void TransferPlan::add_latency() {
  for (PageKind pages : input_.options.pages) {
    for (Pinning pinning : options_.pinnings) {
      for (Bytes size : options_.latency_sizes) {
        for (const std::string& direction : options_.directions) {
          if (direction == "both") continue;
          for (const MemoryPlacement& memory : memories_) {
            for (int gpu : gpus_) {
              Case now{pages, size, pinning, direction, memory};
              now.depth = 1;
              add_copy_point("latency", now, {gpu});
            }
          }
        }
      }
    }
  }
}

void TransferPlan::add_chases() {
  for (PageKind pages : input_.options.pages) {
    for (HostCaches caches : options_.caches) {
      for (Bytes size : options_.chase_sizes) {
        for (const MemoryPlacement& memory : memories_) {
          for (int gpu : gpus_) {
            Case now{pages, size, Pinning::pinned, "h2d", memory, caches};
            PlannedScenario planned = head("chase", now, {gpu});
            Flows flows;
            for (std::size_t host = 0; host < input_.machines.size(); ++host)
              add_flows(now, {gpu}, static_cast<int>(host), flows, planned.skip);
            for (Flow& flow : flows) {
              flow.kernel.name = device_chase;
              flow.region = *flow.source;
              flow.source.reset();
              flow.kernel.device.copies = 1;
              flow.kernel.device.caches = caches;
              flow.kernel.device.loads = usual_loads(size);
              flow.warm_up = device_warm_up(flow);
            }
            if (!planned.skip.empty()) flows.clear();
            add_point(plan_, std::move(planned), std::move(flows), false);
          }
        }
      }
    }
  }
}

void TransferPlan::add_peers() {
  const std::vector<Bytes> sizes =
      options_.sizes.empty() ? std::vector{usual_copy} : options_.sizes;
  for (Bytes size : sizes) {
    for (int from : gpus_) {
      for (int to : gpus_) {
        if (from == to) continue;
        Case now;
        now.size = size;
        PlannedScenario planned = head("peer", now, {from, to});
        Flows flows;
        for (std::size_t host = 0; host < input_.machines.size(); ++host) {
          const Gpu* gpu = find_gpu(input_.machines[host], from);
          if (gpu == nullptr || find_gpu(input_.machines[host], to) == nullptr) continue;
          const auto worker =
              caller_for(input_, static_cast<int>(host), *gpu, now.memory, options_.caller, {});
          if (worker) flows.push_back(copy_flow(*worker, from, to, now, now.memory));
        }
        add_point(plan_, std::move(planned), std::move(flows), false);
      }
    }
  }
}

void TransferPlan::add_all(Bytes size) {
  plan_.clear();
  if (options_.copies) add_copies(options_.sizes.empty() ? std::vector{size} : options_.sizes);
  if (options_.latency) add_latency();
  if (options_.chase) add_chases();
  if (options_.peer) add_peers();
}

Expected<std::vector<PlannedScenario>> TransferPlan::make() {
  if (auto found = find_gpus(); !found) return fail(found.error());
  if (auto found = find_memories(); !found) return fail(found.error());
  if (options_.peer && !options_.all && gpus_.size() < 2) {
    return fail(ErrorKind::unavailable,
                fmt::format("--measure peer: copies between GPUs take two, and there {} {}",
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

#include "engine/simulated/null_engine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/agreement.h"
#include "engine/sampler.h"
#include "engine/sharing.h"
#include "engine/simulated/null_gpu.h"
#include "engine/simulated/null_groups.h"
#include "kernels/kind.h"
#include "kernels/permutation.h"
#include "machine/cache_share.h"
#include "memory/source.h"

namespace numatlas {
namespace {

// Latencies of the modelled machine, in ns: what a server of today has, so that golden outputs look
// like real ones.
constexpr double level_ns[] = {1.2, 4.5, 14.0};
constexpr double memory_ns = 95.0;
// Bytes a nanosecond that a core moves from each level.
constexpr double level_rate[] = {200.0, 90.0, 35.0};
constexpr double memory_rate = 12.0;
// Of a line handed from one core to another: on the same core, under the same last-level cache, and
// beyond it.
constexpr double same_core_ns = 12.0;
constexpr double same_cache_ns = 45.0;
constexpr double other_cache_ns = 110.0;
constexpr double no_such_distance = 20.0;  // SLIT default of a remote node
constexpr double tlb_miss_ns = 25.0;       // of a 4 KiB page, once the buffer outgrows the TLB
constexpr std::uint64_t tlb_reach = 8 * mib;
// With one line a page: entries of the two levels of its TLB, and what a miss of the first costs.
constexpr std::uint64_t first_tlb = 64, second_tlb = 2048;
constexpr double second_tlb_ns = 2.5;
// Far more than a real clock takes, so that samples are long and few, and large machines are quick.
constexpr std::int64_t clock_cost_ns = 1000;
// Where truth is at stake, it is as little as that of a real one.
constexpr std::int64_t true_clock_cost_ns = 10;

// What all of a load adds to the time of who uses the same memory, and another one, in parts of it.
constexpr double slower_same = 1.5, slower_other = 0.25;
// How many times as long a load that is held to a rate takes.
constexpr double paced_gaps = 1.06;

/// Lines of a flow that lie in pages of their own; 0 where pages have several.
std::uint64_t lines_in_own_pages(const Flow& flow) {
  const std::uint64_t stride = stride_of(flow.kernel).value;
  return stride >= 4096 ? flow.region.bytes.value / stride : 0;
}

/// What a flow has in the caches.
std::uint64_t cached_bytes(const Flow& flow) {
  const std::uint64_t lines = lines_in_own_pages(flow);
  return lines > 0 ? lines * 64
                   : flow.region.bytes.value + (flow.source ? flow.source->bytes.value : 0);
}

double tlb_ns(const Flow& flow) {
  if (const std::uint64_t lines = lines_in_own_pages(flow); lines > 0)
    return lines <= first_tlb ? 0 : lines <= second_tlb ? second_tlb_ns : tlb_miss_ns;
  return flow.region.pages == PageKind::base && flow.region.bytes.value > tlb_reach ? tlb_miss_ns
                                                                                    : 0;
}

// Misses that a core keeps open.
constexpr double most_misses = 12;

/// How many times as long a flow takes because of those that use its memory.
double disturbance(const Scenario& scenario, const Flow& flow) {
  double times = 1;
  for (const Flow& other : scenario.flows) {
    if (other.shares && &memory_owner(scenario, other) == &flow)
      times = std::max(times, simulated_step(other.kernel, scenario.flows.size()).disturbs);
  }
  return times;
}

class NullEngine final : public Engine {
 public:
  NullEngine(Comm& comm, const Layout& layout, const Machine& machine, const EngineOptions& options,
             const std::optional<Noise>& noise)
      : comm_(comm), layout_(layout), machine_(machine), options_(options), noise_(noise) {}

  Expected<std::vector<Trace>> run(const Scenario& scenario) override {
    std::vector<Trace> traces;
    std::optional<Error> mine;
    if (options_.progress != nullptr) options_.progress->phase(scenario, "measuring");
    for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
      const Flow& flow = scenario.flows[i];
      const Worker& worker = layout_.workers[static_cast<std::size_t>(flow.worker)];
      if (worker.rank != layout_.own_rank(comm_)) continue;
      auto trace = simulate(scenario, flow, worker);
      if (!trace) {
        mine = trace.error();
        break;
      }
      trace->flow = static_cast<int>(i);
      traces.push_back(*std::move(trace));
    }
    TRY(agree(comm_, mine));
    note_stops(scenario, traces, false);
    if (noise_ && !scenario.stop.whole_passes) {
      TRY(go_on_after(traces));
    }
    if (scenario.stop.whole_passes && scenario.round == 0 && options_.when_prepared) {
      std::vector<const Trace*> prepared;
      for (const Trace& trace : traces) prepared.push_back(&trace);
      if (!prepared.empty()) options_.when_prepared(prepared);
    }
    return traces;
  }
  std::string description() const override { return "null (scripted clock, no memory touched)"; }
  void release() override {}
  Clock& clock() override { return timeline_; }

 private:
  Expected<Trace> simulate(const Scenario& scenario, const Flow& flow, const Worker& worker);
  Expected<void> go_on_after(const std::vector<Trace>& traces);
  std::vector<Sample> passes_of(const Scenario& scenario, const Flow& flow, const Worker& worker,
                                const Residency& residency) const;
  NodeId nearest_memory(NodeId node) const;
  double step_ns(const Scenario& scenario, const Flow& flow, const Worker& worker,
                 const Residency& residency) const;
  double distance_of(const Worker& worker, const Residency& residency) const;
  bool holds_all(const Cache& cache, const Scenario& scenario, int host) const;
  Bytes cached_of(const Cache& cache, const Residency& residency) const;
  double queueing(const Scenario& scenario, const Flow& flow) const;
  double hop_ns(const Scenario& scenario, const Flow& flow) const;
  CpuId cpu_of(int worker) const;
  /// Where the pages of a region would lie, by `local` as the first toucher means it.
  Expected<std::unique_ptr<Buffer>> place(Region region, const Flow& flow) const;

  Comm& comm_;
  const Layout& layout_;
  const Machine& machine_;
  EngineOptions options_;
  std::optional<Noise> noise_;
  ScriptedClock timeline_{0};  ///< of the run; only noise moves it, and who waits
};

/// All ranks' time goes on when the last flow has ended.
Expected<void> NullEngine::go_on_after(const std::vector<Trace>& traces) {
  std::int64_t end = timeline_.now_ns();
  for (const Trace& trace : traces) end = std::max(end, trace.together_end_ns);
  const auto last = TRY(comm_.largest(static_cast<std::uint64_t>(end)));
  timeline_.sleep_until(static_cast<std::int64_t>(last) + noise_->rest.count());
  return {};
}

/// Where the kernel would put local memory of a node: there, or on the nearest that may give some.
NodeId NullEngine::nearest_memory(NodeId node) const {
  const NodeSet usable = machine_.usable_memory_nodes();
  const NumaNode* from = machine_.find_node(node);
  if (usable.empty() || usable.contains(node) || from == nullptr) return node;
  const auto distance = [&](NodeId to) {
    const auto found = from->distance.find(to.value);
    return found == from->distance.end() ? no_such_distance : found->second;
  };
  return *std::min_element(usable.begin(), usable.end(),
                           [&](NodeId a, NodeId b) { return distance(a) < distance(b); });
}

/// Whether a cache has room for what the flows of a host that are under it have together.
bool NullEngine::holds_all(const Cache& cache, const Scenario& scenario, int host) const {
  std::uint64_t bytes = 0;
  for (const Flow& flow : scenario.flows) {
    if (bytes > cache.size.value) return false;
    const bool here = layout_.workers[static_cast<std::size_t>(flow.worker)].host == host;
    if (!flow.shares && here && cache.cpus.contains(cpu_of(flow.worker)))
      bytes += cached_bytes(flow);
  }
  return bytes <= cache.size.value;
}

/// How much of a cache holds memory that lies there.
Bytes NullEngine::cached_of(const Cache& cache, const Residency& residency) const {
  const bool spread = residency.pages_by_node.size() > 1;
  if (spread || residency.pages_by_node.empty()) return cache.size;
  return cache_share(machine_, cache, NodeId{residency.pages_by_node.begin()->first});
}

double NullEngine::step_ns(const Scenario& scenario, const Flow& flow, const Worker& worker,
                           const Residency& residency) const {
  const std::uint64_t bytes = cached_bytes(flow) - (flow.source ? flow.source->bytes.value : 0);
  const double tlb = tlb_ns(flow);
  const CpuId cpu = cpu_of(flow.worker);
  const double traffic = traits_of(flow.kernel).chases_on_cpu()
                             ? 0
                             : static_cast<double>(traffic_per_step(flow.kernel).with_allocate());
  const SimulatedStep its = simulated_step(flow.kernel, scenario.flows.size());
  const double waits = its.times / std::min(its.under_way, most_misses);
  const auto step_of = [&](double moving_ns, double latency_ns) {
    if (traffic == 0) return latency_ns;
    return its.at_random ? std::max(moving_ns, waits * latency_ns) : moving_ns;
  };
  for (int level = 1; level <= 3; ++level) {
    const Cache* cache = machine_.cache_of(cpu, level);
    if (cache == nullptr || bytes > cached_of(*cache, residency).value ||
        !holds_all(*cache, scenario, worker.host))
      continue;
    return step_of(traffic / level_rate[level - 1], level_ns[level - 1] + tlb);
  }
  const double farther = distance_of(worker, residency);
  return step_of(traffic / memory_rate * farther, tlb + memory_ns * farther);
}

/// Of the pages from the worker's CPU, against those of its own node.
double NullEngine::distance_of(const Worker& worker, const Residency& residency) const {
  const NumaNode* from = machine_.find_node(worker.placement.cpu_node);
  double sum = 0;
  double pages = 0;
  for (const auto& [node, count] : residency.pages_by_node) {
    double distance = node == worker.placement.cpu_node.value ? 10 : no_such_distance;
    if (from != nullptr && from->distance.contains(node)) distance = from->distance.at(node);
    sum += static_cast<double>(count) * distance / 10;
    pages += static_cast<double>(count);
  }
  return pages > 0 ? sum / pages : 1;
}

CpuId NullEngine::cpu_of(int worker) const {
  const WorkerPlacement& place = layout_.workers[static_cast<std::size_t>(worker)].placement;
  return place.cpu.value_or(place.cpus.empty() ? CpuId{} : place.cpus.front());
}

/// How much longer a load takes among the scenario's other flows.
double NullEngine::queueing(const Scenario& scenario, const Flow& flow) const {
  const bool chases = traits_of(flow.kernel).chases_on_cpu();
  if (!chases && (flow.role == Role::load || on_gpu(flow.kernel))) return 1;
  const double under_way = simulated_step(flow.kernel, scenario.flows.size()).under_way;
  if (chases && under_way > 1) return std::max(1.0, under_way / most_misses);
  double asked = 0;
  double most = 0;
  bool same = false;
  for (const Flow& other : scenario.flows) {
    if (other.role != Role::load || traffic_per_step(other.kernel).counted() == 0) continue;
    asked += std::min(memory_rate, other.rate.value_or(memory_rate * 1e9) * 1e-9);
    most += memory_rate;
    const MemoryPlacement& its = (other.source ? *other.source : other.region).placement;
    same = same || other.region.placement == flow.region.placement || its == flow.region.placement;
  }
  // Flat at first and steep at the end, as queues are.
  return most > 0 ? 1 + (same ? slower_same : slower_other) * std::pow(asked / most, 4) : 1;
}

/// Of a line from the flow's CPU to that of one that shares its memory.
double NullEngine::hop_ns(const Scenario& scenario, const Flow& flow) const {
  const CpuId mine = cpu_of(flow.worker);
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    const Flow& other = scenario.flows[i];
    if (!other.shares || &scenario.flows[static_cast<std::size_t>(*other.shares)] != &flow)
      continue;
    const CpuId its = cpu_of(other.worker);
    const Cpu* const a = machine_.find_cpu(mine);
    const Cpu* const b = machine_.find_cpu(its);
    if (a != nullptr && b != nullptr && a->core == b->core) return same_core_ns;
    const Cache* const cache = machine_.last_level_cache_of(mine);
    if (cache != nullptr && cache->cpus.contains(its)) return same_cache_ns;
  }
  return other_cache_ns;
}

Expected<std::unique_ptr<Buffer>> NullEngine::place(Region region, const Flow& flow) const {
  region.placement = region.placement.in_force();
  region.placement.source = "null";
  region.local_node = nearest_memory(
      layout_.workers[static_cast<std::size_t>(toucher_of(flow))].placement.cpu_node);
  return allocate(region);
}

Expected<Trace> NullEngine::simulate(const Scenario& scenario, const Flow& flow,
                                     const Worker& worker) {
  Trace trace;
  const Flow& owner = memory_owner(scenario, flow);
  const auto buffer = TRY(place(owner.region, owner));
  // Where memory of a GPU lies is known.
  if (gpu_of(owner.region.placement) < 0) trace.residency = buffer->residency();
  trace.policy = buffer->policy();
  if (flow.source) {
    const auto source = TRY(place(*flow.source, flow));
    trace.source_residency = gpu_of(flow.source->placement) < 0 ? source->residency() : Residency{};
  }
  const auto bytes = static_cast<double>(traffic_per_step(flow.kernel).counted());
  const SimulatedStep step = simulated_step(flow.kernel, scenario.flows.size());
  double mean_ns = bytes > 0 ? step_ns(scenario, flow, worker, trace.residency)
                             : step.times * (step.own_ns + step.hops * hop_ns(scenario, owner) +
                                             step.memory_ns * distance_of(worker, trace.residency));
  mean_ns *= disturbance(scenario, flow);
  trace.counts = step.counts;
  // A copy from farther away than to waits for what it reads.
  if (trace.source_residency)
    mean_ns = std::max(mean_ns, step_ns(scenario, flow, worker, *trace.source_residency));
  const bool from_host = flow.source && gpu_of(flow.source->placement) < 0;
  const Residency& host = from_host ? *trace.source_residency : trace.residency;
  if (on_gpu(flow.kernel)) mean_ns = null_gpu_step_ns(machine_, scenario, flow, host);
  mean_ns *= queueing(scenario, flow);
  const double load_ns = mean_ns;
  const bool delayed = noise_ && noise_->delays && traits_of(flow.kernel).chases_on_cpu();
  if (delayed) mean_ns += noise_->delays->share * static_cast<double>(noise_->delays->by.count());
  // Where truth is at stake, bursts leave gaps, as those of real loads do.
  const double gaps = noise_ ? paced_gaps : 1;
  if (flow.rate && bytes > 0) mean_ns = std::max(mean_ns, gaps * bytes / *flow.rate * 1e9);
  if (scenario.stop.whole_passes) {
    trace.samples = passes_of(scenario, flow, worker, trace.residency);
    trace.stop = StopReason::passes;
    trace.address = 0x7f0000000000 + (static_cast<std::uint64_t>(flow.worker) << 32);
    trace.cpu_before = trace.cpu_after = worker.placement.cpu;
    return trace;
  }
  ScriptedClock clock(noise_ ? true_clock_cost_ns : clock_cost_ns);
  // Noise of a few per cent, skewed upwards as real latencies are; a function of seed, worker,
  // size.
  std::uint64_t state = flow.kernel.seed * 1000003 +
                        static_cast<std::uint64_t>(flow.worker) * 7919 + flow.region.bytes.value;
  const auto uniform = [&] { return static_cast<double>(split_mix(state) >> 11) * 0x1p-53; };
  const auto take = [&](double work_ns) {
    if (!noise_) {
      const double unit = uniform();
      clock.advance(work_ns * (1 + 0.05 * unit * unit));
      return;
    }
    if (const double sd = noise_->samples; sd > 0) {
      const double normal =
          std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
      work_ns *= std::exp(sd * normal - sd * sd / 2);
    }
    clock.advance(noise_->end_of(clock.time_ns(), work_ns) - clock.time_ns());
  };
  if (noise_) {
    clock.sleep_until(timeline_.now_ns());
    state += static_cast<std::uint64_t>(timeline_.now_ns()) + (noise_->seed << 40);
  }
  Sampler sampler(
      clock, scenario.stop,
      [&](std::uint64_t steps) { take(static_cast<double>(steps) * mean_ns); },
      on_gpu(flow.kernel) ? 1 : ~std::uint64_t{0});
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  std::move(sampler).finish(trace);
  trace.address = 0x7f0000000000 + (static_cast<std::uint64_t>(owner.worker) << 32);
  trace.overlap = 1.0;
  trace.together_start_ns = trace.samples.front().start_ns;
  trace.together_end_ns = trace.samples.back().start_ns + trace.samples.back().duration_ns;
  trace.cpu_before = trace.cpu_after = worker.placement.cpu;
  const auto* const chase = flow.kernel.find<ChaseParameters>();
  if (chase != nullptr && chase->tail_group > 0)
    trace.groups =
        simulated_groups(chase->tail_group, load_ns,
                         static_cast<double>(trace.together_end_ns - trace.together_start_ns),
                         delayed ? noise_->delays : std::nullopt, state);
  if (on_gpu(flow.kernel)) {
    trace.device = null_gpu_report(machine_, flow, trace);
    if (trace.device->route.empty()) trace.before_pinning = trace.after = host;
  }
  if (flow.shares) return trace;  // of its memory the owner tells
  const NodeId local =
      layout_.workers[static_cast<std::size_t>(toucher_of(flow))].placement.cpu_node;
  for (Warning& warning : placement_warnings(flow.region, trace.residency, local, machine_)) {
    if (options_.strict) return fail(ErrorKind::placement, warning.text);
    trace.warnings.push_back(std::move(warning));
  }
  return trace;
}

/// All begin at the same time, and each takes its own.
std::vector<Sample> NullEngine::passes_of(const Scenario& scenario, const Flow& flow,
                                          const Worker& worker, const Residency& residency) const {
  const auto& work = flow.kernel.as<PassesParameters>();
  const auto here =
      static_cast<std::uint64_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  std::uint64_t state = 7919 * (static_cast<std::uint64_t>(flow.worker) + 1) + 104729 * here;
  std::vector<Sample> samples;
  std::int64_t start = 0;
  const std::uint64_t passes = *scenario.stop.steps;
  for (std::uint64_t i = 0; i < passes * static_cast<std::uint64_t>(scenario.round); ++i)
    split_mix(state);  // those of the rounds before
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    Flow one = flow;
    one.kernel.parameters = LoopParameters{work.passes[pass % work.passes.size()]};
    const double unit = static_cast<double>(split_mix(state) >> 11) * 0x1p-53;
    const double ns = static_cast<double>(work.array_lines) *
                      step_ns(scenario, one, worker, residency) * (1 + 0.01 * unit) *
                      options_.slow_down;
    samples.push_back({start, static_cast<std::int64_t>(ns)});
    start += 1'000'000'000;
  }
  return samples;
}

}  // namespace

std::unique_ptr<Engine> make_null_engine(Comm& comm, const Layout& layout, const Machine& machine,
                                         const EngineOptions& options,
                                         const std::optional<Noise>& noise) {
  return std::make_unique<NullEngine>(comm, layout, machine, options, noise);
}

}  // namespace numatlas

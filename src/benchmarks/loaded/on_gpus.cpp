#include "benchmarks/loaded/on_gpus.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/add_once.h"
#include "base/text.h"
#include "benchmarks/loaded/facts.h"
#include "benchmarks/on_gpus.h"
#include "run/device_flows.h"
#include "run/executor.h"
#include "run/flows.h"

namespace numatlas::benchmark_loaded {
namespace {

/// How many multiprocessors load: few of them take most of a bus, so that steps are small at first.
std::vector<int> loader_counts(int most) {
  constexpr std::array few{1, 2, 4, 8};
  constexpr std::array percents{10, 15, 20, 25, 30, 40, 50, 60, 75, 100};
  std::vector<int> counts;
  for (const int count : few)
    if (count <= most) counts.push_back(count);
  for (const int percent : percents) add_once(counts, std::max(1, most * percent / 100));
  std::sort(counts.begin(), counts.end());
  return counts;
}

/// From the least to the most.
std::vector<AxisValue> loads_of_gpu(const PlanInput& input) {
  std::vector<AxisValue> values;
  const auto counts = loader_counts(std::max(1, multiprocessors_of_gpus(input) - 1));
  for (const int blocks : counts)
    values.push_back(
        {{blocks == counts.back() ? peak_load : count_text(blocks, "SM")}, blocks, false});
  return values;
}

std::vector<AxisValue> idle_gpu(const PlanInput&) { return {{{idle_load}, 0, false}}; }

// Past all caches of GPUs of today; of the host less, which is slower.
Bytes size_on_gpu(const PlanInput& input, const AxisSetting& now) {
  return is_of_host(now) ? Bytes{256 * mib} : largest_on_gpus(input, Bytes{1 * gib});
}

/// Whether flows of a host are called by workers of different ranks.
bool of_two_processes(const PlanInput& input, const std::vector<Flow>& flows) {
  std::map<int, int> rank_of_host;
  return std::ranges::any_of(flows, [&](const Flow& flow) {
    const Worker& worker = worker_of(input, flow.worker);
    return rank_of_host.emplace(worker.host, worker.rank).first->second != worker.rank;
  });
}

/// The chase, and what loads the memory meanwhile.
Expected<Point> point_on_gpu(const PlanInput& input, const AxisSetting& now) {
  const int blocks = now.of<int>();
  Point point = gpu_point(input, now, [&](int gpu) -> std::vector<KernelSpec> {
    DeviceChaseParameters chase;
    chase.gpu = gpu;
    chase.loads = is_of_host(now) ? usual_loads(now.size) : usual_gpu_loads;
    if (blocks == 0) return {{chase}};
    auto stream = now.kernel.spec.as<DeviceStreamParameters>();
    stream.gpu = gpu;
    stream.bytes = now.size;
    stream.passes = usual_passes(now.size, !is_of_host(now));
    stream.blocks = static_cast<unsigned>(blocks);
    return {{chase}, {stream}};
  });
  for (Flow& flow : point.flows)
    if (traits_of(flow.kernel).streams_on_gpu()) flow.role = Role::load;
  point.reference = blocks == 0;
  if (blocks > 0) point.labels = {{"load_kernel", name_of(now.kernel.spec)}};
  if (of_two_processes(input, point.flows))
    point.skip = Error{ErrorKind::unavailable,
                       "the chase and the load would be of two processes, whose kernels take "
                       "turns on a GPU",
                       "run a process per host", ", with --threads 2"};
  return point;
}

}  // namespace

void by_gpus(Benchmark& its) {
  const SizeRule size{.usual = size_on_gpu};
  its.sweeps = {{.point = point_on_gpu,
                 .name = "idle gpu {gpus} memory {memory}[ {pages}]",
                 .axes = {{{"load"}, idle_gpu}},
                 .size = size,
                 .of_kernels = false},
                {.point = point_on_gpu,
                 .name = "gpu {kernel} {load} gpu {gpus} memory {memory}[ {pages}]",
                 .axes = {{{"load"}, loads_of_gpu}},
                 .size = size}};
  Table& table = its.shown.tables.emplace_back(curve_table());
  table.title =
      "Loaded latency in ns: GPU {gpus}, memory: {memory|place} (load: {kernel} by its "
      "multiprocessors, {size})";
  table.apart = curve_of_gpus;
  table.notes.emplace_back("SMs: multiprocessors that load, a block each; peak: all but one");
  its.figures.totals = on_gpus::totals;
  its.figures.of_flow = {};
  its.refinement.time_parts.clear();
}

}  // namespace numatlas::benchmark_loaded

#include "benchmarks/loaded/on_gpus.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/add_once.h"
#include "benchmarks/axes.h"
#include "benchmarks/loaded/facts.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_loaded {
namespace {

using benchmark_gpu::flow_at;

// Past all caches of GPUs of today; of the host less, which is slower.
constexpr Bytes usual_size{1 * gib}, usual_size_of_host{256 * mib};
// Where the driver or the file says nothing of them.
constexpr int usual_multiprocessors = 64;

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

/// The load of a point; none of an idle one.
struct Load {
  Operation kernel = Operation::read;
  int blocks = 0;
  std::string label = idle_load;
};

struct Point {
  int gpu = 0;
  Bytes size = {};
  PageKind pages = PageKind::base;
};

void add_flows(const PlanInput& input, int host, const Point& point, const Load& load,
               const std::optional<MemorySpec>& memory, PlannedScenario& planned) {
  const bool of_gpu = !memory || gpu_of(memory->single) >= 0;
  std::set<int> taken;
  DeviceChaseParameters chase;
  chase.gpu = point.gpu;
  chase.loads = of_gpu ? usual_gpu_loads : usual_loads(point.size);
  auto chaser =
      flow_at(input, host, KernelSpec{chase}, point.size, point.pages, memory, taken, planned.skip);
  if (!chaser) return;
  planned.scenario.flows.push_back(*std::move(chaser));
  if (load.blocks == 0) return;
  DeviceStreamParameters stream;
  stream.gpu = point.gpu;
  stream.operation = load.kernel;
  stream.bytes = point.size;
  stream.passes = usual_passes(point.size, of_gpu);
  stream.blocks = static_cast<unsigned>(load.blocks);
  auto loader = flow_at(input, host, KernelSpec{stream}, point.size, point.pages, memory, taken,
                        planned.skip);
  if (!loader) return;
  loader->role = Role::load;
  planned.scenario.flows.push_back(*std::move(loader));
}

PlannedScenario planned_point(const PlanInput& input, const Point& point, const Load& load,
                              const std::optional<MemorySpec>& memory) {
  const std::string place = memory ? memory->single.text() : "own";
  DeviceStreamParameters kernel;
  kernel.operation = load.kernel;
  const bool idle = load.blocks == 0;
  PlannedScenario planned = new_point(
      input,
      fmt::format(
          "{}{} gpu {} memory {}{}", idle ? "" : std::string(kernel.name()) + " ", load.label,
          point.gpu, place,
          memory && gpu_of(memory->single) < 0 ? fmt::format(" {}", name_of(point.pages)) : ""),
      point.size, point.pages);
  planned.head.order = name_of(ChainOrder::random);
  planned.head.labels = {
      {"gpus", std::to_string(point.gpu)}, {"memory", place}, {"load", load.label}};
  if (!idle) {
    planned.head.kernel = kernel.name();
    planned.head.labels.emplace_back("load_kernel", kernel.name());
  }
  planned.optional = true;
  planned.reference = idle;
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    if (find_gpu(input.machines[host], point.gpu) != nullptr)
      add_flows(input, static_cast<int>(host), point, load, memory, planned);
  }
  return planned;
}

/// The fewest that this GPU has on any host.
int multiprocessors_of(const PlanInput& input, int gpu) {
  std::optional<int> fewest;
  for (const Machine& machine : input.machines) {
    const Gpu* const its = find_gpu(machine, gpu);
    if (its == nullptr) continue;
    const int count = its->multiprocessors.value_or(usual_multiprocessors);
    fewest = std::min(fewest.value_or(count), count);
  }
  return fewest.value_or(usual_multiprocessors);
}

}  // namespace

Expected<Plan> plan_on_gpus(const GpuLoad& load, const PlanInput& input) {
  const auto gpus = TRY(of_option("--on", chosen_gpus(input, load.gpus)));
  const auto memory = TRY(benchmark_gpu::memory_of(input));
  const bool of_host = memory && gpu_of(memory->single) < 0;
  Plan plan;
  const auto add_curves = [&](PageKind pages, int gpu) {
    Point point{gpu, load.size, pages};
    if (point.size.value == 0)
      point.size =
          benchmark_gpu::largest_on(input, {gpu}, of_host ? usual_size_of_host : usual_size);
    add_point(plan, planned_point(input, point, {}, memory));
    const std::vector<int> counts = loader_counts(std::max(1, multiprocessors_of(input, gpu) - 1));
    for (const Operation kernel : load.kernels) {
      for (const int blocks : counts) {
        const bool all = blocks == counts.back();
        add_point(plan,
                  planned_point(
                      input, point,
                      {kernel, blocks,
                       all ? peak_load : fmt::format("{} SM{}", blocks, blocks == 1 ? "" : "s")},
                      memory));
      }
    }
  };
  for_each_of(add_curves, of_host ? input.pages : std::vector{PageKind::base}, gpus);
  return plan;
}

}  // namespace numatlas::benchmark_loaded

#include "benchmarks/loaded/on_gpus.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/product.h"
#include "base/text.h"
#include "benchmarks/loaded/facts.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_loaded {
namespace {

// Past all caches of GPUs of today; of the host less, which is slower.
constexpr Bytes usual_size{1 * gib}, usual_size_of_host{256 * mib};

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

/// The chase, and what loads the memory meanwhile.
std::vector<KernelSpec> kernels_of(const Point& point, const Load& load, bool of_host) {
  DeviceChaseParameters chase;
  chase.gpu = point.gpu;
  chase.loads = of_host ? usual_loads(point.size) : usual_gpu_loads;
  if (load.blocks == 0) return {{chase}};
  DeviceStreamParameters stream;
  stream.gpu = point.gpu;
  stream.operation = load.kernel;
  stream.bytes = point.size;
  stream.passes = usual_passes(point.size, !of_host);
  stream.blocks = static_cast<unsigned>(load.blocks);
  return {{chase}, {stream}};
}

/// Whether flows of a host are called by workers of different ranks.
bool of_two_processes(const PlanInput& input, const std::vector<Flow>& flows) {
  std::map<int, int> rank_of_host;
  return std::ranges::any_of(flows, [&](const Flow& flow) {
    const Worker& worker = worker_of(input, flow.worker);
    return rank_of_host.emplace(worker.host, worker.rank).first->second != worker.rank;
  });
}

Expected<PlannedScenario> planned_point(const PlanInput& input, const Point& point,
                                        const Load& load, const std::optional<MemorySpec>& memory) {
  const std::string place = on_gpus::place_of(memory);
  const bool of_host = on_gpus::is_of_host(memory);
  const std::vector<KernelSpec> kernels = kernels_of(point, load, of_host);
  const bool idle = load.blocks == 0;
  const std::string kernel = idle ? "" : name_of(kernels.back());
  PlannedScenario planned = new_point(
      input,
      fmt::format("{}{} gpu {} memory {}{}", idle ? "" : kernel + " ", load.label, point.gpu, place,
                  of_host ? fmt::format(" {}", name_of(point.pages)) : ""),
      point.size, point.pages);
  planned.head.order = name_of(ChainOrder::random);
  planned.head.labels = {
      {"gpus", std::to_string(point.gpu)}, {"memory", place}, {"load", load.label}};
  if (!idle) {
    planned.head.kernel = kernel;
    planned.head.labels.emplace_back("load_kernel", kernel);
  }
  planned.optional = true;
  planned.reference = idle;
  TRY(on_gpus::add_flows(input, kernels, point.size, point.pages, memory, planned));
  for (Flow& flow : planned.scenario.flows)
    if (traits_of(flow.kernel).streams_on_gpu()) flow.role = Role::load;
  if (of_two_processes(input, planned.scenario.flows))
    planned.skip = Error{ErrorKind::unavailable,
                         "the chase and the load would be of two processes, whose kernels take "
                         "turns on a GPU",
                         "run a process per host", ", with --threads 2"};
  return planned;
}

/// Idle, then the loads of each kernel, from the least to the most.
std::vector<Load> loads_of(const std::vector<Operation>& kernels, int multiprocessors) {
  std::vector<Load> loads{{}};
  const std::vector<int> counts = loader_counts(std::max(1, multiprocessors - 1));
  for (const Operation kernel : kernels) {
    for (const int blocks : counts) {
      const bool all = blocks == counts.back();
      loads.push_back({kernel, blocks, all ? peak_load : count_text(blocks, "SM")});
    }
  }
  return loads;
}

}  // namespace

Expected<Plan> plan_on_gpus(const GpuLoad& load, const PlanInput& input) {
  const auto gpus = TRY(of_option("--on", chosen_gpus(input, load.gpus)));
  const auto memory = TRY(on_gpus::memory_of(input));
  const bool of_host = on_gpus::is_of_host(memory);
  const bool has_size = load.size.value > 0;
  if (has_size) TRY(on_gpus::check_chase_size(load.size));
  Plan plan;
  for (const PageKind pages : of_host ? input.pages : std::vector{PageKind::base}) {
    for (const int gpu : gpus) {
      const Bytes most = of_host ? usual_size_of_host : usual_size;
      const Point point{gpu, has_size ? load.size : on_gpus::largest_on(input, {gpu}, most), pages};
      for (const Load& one : loads_of(load.kernels, on_gpus::multiprocessors_of(input, gpu))) {
        add_point(plan, TRY(planned_point(input, point, one, memory)));
      }
    }
  }
  return plan;
}

}  // namespace numatlas::benchmark_loaded

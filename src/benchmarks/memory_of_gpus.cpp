#include "benchmarks/memory_of_gpus.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/product.h"
#include "base/units.h"
#include "gpu/machine_gpus.h"
#include "kernels/stream.h"
#include "memory/source.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::memory_of_gpus {
namespace {

// From the cache of one multiprocessor to what no cache of today holds.
constexpr Bytes smallest_chase{16 * kib}, largest_chase{1 * gib};
// Of all arrays, in memory: several times the largest caches of today.
constexpr Bytes usual_stream{1 * gib};
constexpr Bytes usual_chase_of_host{64 * mib};

/// What tells a point from the others.
struct Case {
  std::string measure;  ///< "latency", "bandwidth"
  PageKind pages = PageKind::base;
  Bytes size = {};
  Operation kernel = Operation::read;
  GpuLoads loads = GpuLoads::cached;
  std::vector<int> gpus = {};
};

/// The smallest cache that the multiprocessors of one of them share.
std::optional<Bytes> shared_cache_of(const PlanInput& input, const std::vector<int>& gpus) {
  std::optional<Bytes> smallest;
  for (const Machine& machine : input.machines) {
    for (const int index : gpus) {
      const Gpu* const gpu = find_gpu(machine, index);
      if (gpu == nullptr || !gpu->shared_cache) continue;
      smallest = std::min(smallest.value_or(*gpu->shared_cache), *gpu->shared_cache);
    }
  }
  return smallest;
}

std::vector<Bytes> chase_sizes(const Options& own, const PlanInput& input,
                               const std::vector<int>& gpus, bool of_host) {
  if (!own.sizes.empty()) return own.sizes;
  if (of_host) return {usual_chase_of_host};
  const Bytes last = on_gpus::largest_on(input, gpus, largest_chase);
  if (own.every_memory) return {last};
  std::vector<Bytes> sizes;
  for (Bytes size = smallest_chase; size <= last; size.value *= 2) sizes.push_back(size);
  return sizes;
}

/// One that the shared cache holds, and one of memory.
std::vector<Bytes> stream_sizes(const Options& own, const PlanInput& input,
                                const std::vector<int>& gpus, bool of_host) {
  if (!own.sizes.empty()) return own.sizes;
  if (of_host) return {on_gpus::largest_on(input, gpus, Bytes{usual_stream.value / 4})};
  std::vector<Bytes> sizes;
  const auto cache = own.every_memory ? std::nullopt : shared_cache_of(input, gpus);
  if (cache) sizes.push_back(Bytes{cache->value / 4});
  sizes.push_back(on_gpus::largest_on(input, gpus, usual_stream));
  return sizes;
}

PlannedScenario head(const PlanInput& input, const Case& now, const std::string& memory) {
  PlannedScenario planned = new_point(input, "", now.size, now.pages);
  ScenarioResult& head = planned.head;
  const std::string gpus = fmt::format("{}", fmt::join(now.gpus, ","));
  head.labels = {{"measure", now.measure}, {"gpus", gpus}, {"memory", memory}};
  if (now.measure == "latency") {
    head.kernel = DeviceChaseParameters::name();
    head.order = name_of(ChainOrder::random);
    head.name = fmt::format("gpu {} latency {} memory {}", gpus, compact_text(now.size), memory);
    if (now.loads != GpuLoads::cached) head.name += fmt::format(" {}", name_of(now.loads));
    head.labels.emplace_back("gpu_loads", name_of(now.loads));
  } else {
    head.kernel = DeviceStreamParameters{{}, now.kernel, {}, 1, 0}.name();
    head.name = fmt::format("gpu {} {} {} memory {}", gpus, name_of(now.kernel),
                            compact_text(now.size), memory);
  }
  if (memory != "own" && !memory.starts_with("gpu:"))
    head.name += fmt::format(" {}", name_of(now.pages));
  return planned;
}

KernelSpec kernel_of(const Case& now, int gpu, bool of_gpu) {
  if (now.measure == "latency") {
    DeviceChaseParameters chase;
    chase.gpu = gpu;
    chase.loads = of_gpu ? usual_gpu_loads : usual_loads(now.size);
    chase.loads_by = now.loads;
    return {chase};
  }
  DeviceStreamParameters stream;
  stream.gpu = gpu;
  stream.operation = now.kernel;
  stream.bytes = now.size;
  stream.passes = usual_passes(now.size, of_gpu);
  return {stream};
}

/// That of each node with memory, then that of each GPU.
std::vector<std::optional<MemorySpec>> memories_of_all(const PlanInput& input) {
  std::vector<std::optional<MemorySpec>> all;
  const auto add = [&](MemoryPlacement placement) {
    MemorySpec spec;
    spec.single = std::move(placement);
    all.emplace_back(std::move(spec));
  };
  for (const NodeId node : ordinary_memory_nodes(input)) add(bound_to(node));
  for (const int gpu : usable_gpus(input.machines)) add(gpu_memory(gpu));
  return all;
}

/// The points of one memory.
Expected<void> add_points(const Options& own, const PlanInput& input, const std::vector<int>& gpus,
                          const std::optional<MemorySpec>& memory, Plan& plan) {
  const bool of_host = on_gpus::is_of_host(memory);
  const std::vector<PageKind> pages = of_host ? input.pages : std::vector{PageKind::base};
  const std::string place = on_gpus::place_of(memory);
  std::vector<std::vector<int>> groups{gpus};
  if (!own.together) {
    groups.clear();
    for (const int gpu : gpus) groups.push_back({gpu});
  }
  const std::vector<Bytes> chased =
      own.latency ? chase_sizes(own, input, gpus, of_host) : std::vector<Bytes>{};
  for (const Bytes size : chased) TRY(on_gpus::check_chase_size(size));
  std::optional<Error> wrong;
  const auto add = [&](const Case& now) {
    PlannedScenario planned = head(input, now, place);
    planned.optional = own.every_memory;
    std::vector<KernelSpec> kernels;
    for (const int gpu : now.gpus) kernels.push_back(kernel_of(now, gpu, !of_host));
    const auto added = on_gpus::add_flows(input, kernels, now.size, now.pages, memory, planned);
    if (!added && !wrong) wrong = added.error();
    add_point(plan, std::move(planned));
  };
  if (own.latency) {
    for_each_of(
        [&](PageKind kind, Bytes size, GpuLoads loads, int gpu) {
          add({"latency", kind, size, Operation::read, loads, {gpu}});
        },
        pages, chased, of_host ? std::vector{GpuLoads::cached} : own.loads, gpus);
  }
  if (own.bandwidth) {
    for_each_of(
        [&](PageKind kind, Bytes size, Operation kernel, const std::vector<int>& group) {
          add({"bandwidth", kind, size, kernel, GpuLoads::cached, group});
        },
        pages, stream_sizes(own, input, gpus, of_host), own.kernels, groups);
  }
  if (wrong) return fail(*wrong);
  return {};
}

Expected<Plan> plan(const Options& own, const std::vector<int>& asked, const PlanInput& input) {
  const auto gpus = TRY(of_option("--on", chosen_gpus(input, asked)));
  Plan plan;
  if (!own.every_memory) {
    const auto memory = TRY(on_gpus::memory_of(input));
    TRY(add_points(own, input, gpus, memory, plan));
    return plan;
  }
  if (input.options.pages.size() > 1)
    return fail_usage("--pages", "--on gpu:N accepts one kind of pages", "run it once for each");
  if (input.options.placement.memory)
    return fail_usage("--memory", "the columns are all memories", "leave it out");
  for (const auto& memory : memories_of_all(input)) {
    TRY(add_points(own, input, gpus, memory, plan));
  }
  return plan;
}

View latency_view(const CaseGroup& group) {
  const ScenarioResult& first = *group.cases.front();
  const std::string memory = label_of(first, "memory");
  View view;
  view.kind = ViewKind::curve;
  view.where = group.labels;
  view.title =
      fmt::format("Latency of a GPU's loads in ns ({}{})", on_gpus::memory_words(memory),
                  label_of(first, "gpu_loads") == "l2" ? "; past the multiprocessor's cache" : "");
  view.notes = {"one row per size, one column per GPU; one thread, dependent loads",
                "cycles: of the multiprocessor's clock, by load"};
  view.rows = "size";
  view.columns = "gpus";
  view.cells = {label_column("size", "size"), label_column("fits", "level"),
                figure_column("GPU", "latency", in_ns, Part::with_interval, 1),
                figure_column("", "cycles", 1, Part::value, 0, " cycles")};
  return view;
}

View bandwidth_view(const CaseGroup& group) {
  View view;
  view.where = group.labels;
  view.title = fmt::format("Bandwidth of GPU kernels in GB/s ({})",
                           on_gpus::memory_words(label_of(*group.cases.front(), "memory")));
  view.notes = {
      fmt::format("all multiprocessors together; bytes counted as STREAM does, so that a copy "
                  "counts twice; {}: half of the 95 % interval",
                  plus_minus()),
      "of peak: of the rate of the memory's bus (width times clock); grid: blocks x threads of a "
      "launch"};
  view.cells = {label_column("GPU", "gpus"),
                label_column("kernel", "kernel"),
                label_column("size", "size"),
                label_column("fits", "level"),
                figure_column("GB/s", "bandwidth_sum", in_gb_per_s),
                figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                figure_column("of peak", "peak_share", in_percent, Part::value, 0, " %"),
                label_column("grid", "grid")};
  return view;
}

/// What of a GPU's latency a size stands for: of several of one level the one in its middle, as
/// sizes near a border are partly of the next; of memory the first.
const ScenarioResult* of_level(const std::vector<const ScenarioResult*>& cases,
                               const std::string& level) {
  std::vector<const ScenarioResult*> its;
  for (const ScenarioResult* one : cases) {
    if (label_of(*one, "gpu_loads") == name_of(GpuLoads::cached) && level_text(*one) == level)
      its.push_back(one);
  }
  if (its.empty()) return nullptr;
  return its[level == "memory" ? 0 : its.size() / 2];
}

std::vector<View> views(const RunReport& report) {
  View gpus;
  gpus.level = ViewLevel::flows;
  gpus.title = "GPUs";
  gpus.where = {{"measure", label_of(report.scenarios.front(), "measure")},
                {"size", compact_text(report.scenarios.front().size)}};
  gpus.cells = {label_column("GPU", "gpu"), label_column("name", "gpu_name"),
                label_column("address", "gpu_address"), label_column("node", "gpu_node"),
                label_column("memory's bus", "memory_bandwidth")};
  std::vector<View> views{gpus};
  const auto measure_of = [](const CaseGroup& group) {
    return label_of(*group.cases.front(), "measure");
  };
  for (const CaseGroup& group : groups_of(report, {"measure", "gpu_loads", "pages"}))
    if (measure_of(group) == "latency") views.push_back(latency_view(group));
  for (const CaseGroup& group : groups_of(report, {"measure", "pages"}))
    if (measure_of(group) == "bandwidth") views.push_back(bandwidth_view(group));
  return views;
}

std::vector<View> matrix_views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"kernel"})) {
    const ScenarioResult& first = *group.cases.front();
    const bool latency = label_of(first, "measure") == "latency";
    View view;
    view.kind = ViewKind::matrix;
    view.where = group.labels;
    view.rows = "gpus";
    view.columns = "memory";
    view.title = latency
                     ? "Latency of a GPU's loads in ns (one thread, dependent loads)"
                     : fmt::format("Bandwidth of {} in GB/s (all multiprocessors)", first.kernel);
    view.notes = {
        "one row per GPU, one column per memory: of nodes (bind:N) over the link, of GPUs "
        "(gpu:N) by loads and stores, without copies"};
    view.cells = {latency ? figure_column("", "latency", in_ns, Part::with_interval, 1)
                          : figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval)};
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& group : groups_of(report, {"gpus", "memory"})) {
    const std::string gpu = label_of(*group.cases.front(), "gpus"),
                      memory = label_of(*group.cases.front(), "memory");
    std::vector<std::pair<std::string, std::string>> where{{"gpu", gpu}};
    if (memory != "own") where.emplace_back("memory", memory);
    const std::string heading = memory == "own" ? "GPU " + gpu : "";
    const std::string prefix = fmt::format("GPU {}: ", gpu);
    for (const auto& [level, key, words] :
         {std::tuple("L1", "gpu_l1_latency", "L1"), std::tuple("L2", "gpu_l2_latency", "L2"),
          std::tuple("memory", "gpu_memory_latency", "memory")}) {
      const ScenarioResult* const one = of_level(group.cases, level);
      const auto estimate = one != nullptr ? host_estimate_of(*one, "latency") : std::nullopt;
      if (!estimate) continue;
      facts.push_back({key, where, fmt::format("{}a load from {}", prefix, level), "s", *estimate,
                       heading, fmt::format("{} {{}}", words)});
    }
    for (const ScenarioResult* one : group.cases) {
      const bool bandwidth = label_of(*one, "measure") == "bandwidth";
      const auto estimate = bandwidth ? host_estimate_of(*one, "bandwidth_sum") : std::nullopt;
      if (!estimate) continue;
      const std::string kernel = one->kernel.substr(one->kernel.find(' ') + 1);
      const bool cached = level_text(*one) == "L2";
      auto its = where;
      const bool own = memory == "own";
      // Neither the cache nor memory alone: a figure of neither.
      if (own && level_text(*one) == "-") continue;
      if (!own) {
        its.emplace_back("size", std::to_string(one->size.value));
        its.emplace_back("pages", one->pages);
      }
      const bool shown = !cached && (kernel == "read" || kernel == "triad");
      facts.push_back({fmt::format("gpu_{}{}", cached ? "l2_" : "", kernel), std::move(its),
                       fmt::format("{}{} of {} of {}", prefix, kernel, to_text(one->size),
                                   cached ? "L2" : on_gpus::memory_words(memory)),
                       "B/s", *estimate, shown ? heading : "",
                       shown ? fmt::format("{} {{}}", kernel) : ""});
    }
  }
  return facts;
}

}  // namespace

void take_over(Benchmark& benchmark, const on_gpus::OnOption& on, const Options& own) {
  on.prepare(benchmark, own.together ? 0 : 1);
  benchmark.plan = [own, gpus = on.gpus()](const PlanInput& input) {
    return plan(own, gpus, input);
  };
  benchmark.conclude = {};
  benchmark.warnings = {};
  benchmark.remarks = {};
  benchmark.views = own.every_memory ? matrix_views : views;
  benchmark.facts = facts;
}

}  // namespace numatlas::memory_of_gpus

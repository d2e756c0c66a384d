#include "benchmarks/on_gpus.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "record/labels.h"
#include "run/device_flows.h"
#include "run/executor.h"

namespace numatlas::on_gpus {
namespace {

// From the cache of one multiprocessor to what no cache of today holds.
constexpr Bytes smallest_chase{16 * kib}, largest_chase{1 * gib}, chase_of_host{64 * mib};
// Of all arrays, in memory: several times the largest caches of today.
constexpr Bytes usual_stream{1 * gib}, stream_of_host{256 * mib};

Bytes chase_size(const PlanInput& input, const AxisSetting& now) {
  return is_of_host(now) ? chase_of_host : largest_on_gpus(input, largest_chase);
}

std::vector<Bytes> smaller_chases(const PlanInput& input, Bytes largest) {
  std::vector<Bytes> sizes;
  if (is_of_host(input.options.placement.memory)) return sizes;
  for (Bytes size = smallest_chase; size < largest; size.value *= 2) sizes.push_back(size);
  return sizes;
}

Bytes stream_size(const PlanInput& input, const AxisSetting& now) {
  return largest_on_gpus(input, is_of_host(now) ? stream_of_host : usual_stream);
}

/// The smallest cache that the multiprocessors of one of them share.
std::optional<Bytes> shared_cache_of(const PlanInput& input) {
  std::optional<Bytes> smallest;
  for (const Machine& machine : input.machines) {
    for (const Gpu& gpu : machine.gpus) {
      if (!gpu.index || !gpu.shared_cache) continue;
      smallest = std::min(smallest.value_or(*gpu.shared_cache), *gpu.shared_cache);
    }
  }
  return smallest;
}

/// One that the shared cache holds.
std::vector<Bytes> smaller_streams(const PlanInput& input, Bytes) {
  const auto cache = shared_cache_of(input);
  if (!cache || is_of_host(input.options.placement.memory)) return {};
  return {Bytes{cache->value / 4}};
}

Expected<Point> chase(const PlanInput& input, const AxisSetting& now) {
  return gpu_point(input, now, [&](int gpu) -> std::vector<KernelSpec> {
    DeviceChaseParameters work;
    work.gpu = gpu;
    work.loads = is_of_host(now) ? usual_loads(now.size) : usual_gpu_loads;
    work.loads_by = now.of<GpuLoads>(1);
    return {{work}};
  });
}

Expected<Point> stream(const PlanInput& input, const AxisSetting& now) {
  return gpu_point(input, now, [&](int gpu) -> std::vector<KernelSpec> {
    auto work = now.kernel.spec.as<DeviceStreamParameters>();
    work.gpu = gpu;
    work.bytes = now.size;
    work.passes = usual_passes(now.size, !is_of_host(now));
    return {{work}};
  });
}

Axis measure(const std::string& what) {
  return fixed_axis("measure", Choices<std::string>{{what, what}});
}

std::vector<Table> tables() {
  return {
      gpus_table({"measure", "size"}, {label_column("memory's bus", "memory_bandwidth")}),
      {.title = "Latency of a GPU's loads in ns (memory: {memory|place}, loads: {gpu_loads})",
       .kind = ViewKind::curve,
       .apart = {"measure", "gpu_loads", "pages"},
       .only = {"measure=latency"},
       .rows = "size",
       .columns = "gpus",
       .cells = {label_column("size", "size"), label_column("fits", "level"),
                 figure_column("GPU", "latency", in_ns, Part::with_interval, 1),
                 figure_column("", "cycles", 1, Part::value, 0, " cycles")},
       .notes = {"one row per size, one column per GPU; one thread, dependent loads",
                 "cycles: of the multiprocessor's clock, by load"}},
      {.title = "Bandwidth of GPU kernels in GB/s (memory: {memory|place})",
       .apart = {"measure", "pages"},
       .only = {"measure=bandwidth"},
       .cells = {label_column("GPU", "gpus"), label_column("kernel", "kernel"),
                 label_column("size", "size"), label_column("fits", "level"),
                 figure_column("GB/s", "bandwidth_sum", in_gb_per_s),
                 figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                 figure_column("of peak", "peak_share", in_percent, Part::value, 0, " %"),
                 label_column("grid", "grid")},
       .notes = {fmt::format("all multiprocessors together; bytes counted as STREAM does, so that "
                             "a copy counts twice; {}: half of the 95 % interval",
                             plus_minus()),
                 "of peak: of the rate of the memory's bus (width times clock); grid: blocks x "
                 "threads of a launch"}}};
}

std::vector<Table> matrices() {
  Table latency{
      .title = "Latency of a GPU's loads in ns (one thread, dependent loads)",
      .kind = ViewKind::matrix,
      .apart = {"kernel"},
      .only = {"measure=latency"},
      .rows = "gpus",
      .columns = "memory",
      .cells = {figure_column("", "latency", in_ns, Part::with_interval, 1)},
      .notes = {"one row per GPU, one column per memory: of nodes (bind:N) over the link, of GPUs "
                "(gpu:N) by loads and stores, without copies"}};
  Table bandwidth = latency;
  bandwidth.title = "Bandwidth of {kernel} in GB/s (all multiprocessors)";
  bandwidth.only = {"measure=bandwidth"};
  bandwidth.cells = {figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval)};
  return {latency, bandwidth};
}

/// What of a GPU's latency a size stands for: of several of one level the one in its middle, as
/// sizes near a border are partly of the next; of memory the first.
const Case* of_level(const std::vector<const Case*>& cases, const std::string& level) {
  std::vector<const Case*> its;
  for (const Case* one : cases) {
    if (label_of(*one, "gpu_loads") == name_of(GpuLoads::cached) && level_text(*one) == level)
      its.push_back(one);
  }
  if (its.empty()) return nullptr;
  return its[level == "memory" ? 0 : its.size() / 2];
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
      const Case* const one = of_level(group.cases, level);
      const auto estimate = one != nullptr ? host_estimate_of(*one, "latency") : std::nullopt;
      if (!estimate) continue;
      facts.push_back({key, where, fmt::format("{}a load from {}", prefix, level), "s", *estimate,
                       heading, fmt::format("{} {{}}", words)});
    }
    for (const Case* one : group.cases) {
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
                                   cached ? "L2" : memory_words(memory)),
                       "B/s", *estimate, shown ? heading : "",
                       shown ? fmt::format("{} {{}}", kernel) : ""});
    }
  }
  return facts;
}

}  // namespace

Table gpus_table(std::vector<std::string> apart, const std::vector<ViewColumn>& more) {
  std::vector<ViewColumn> cells{label_column("GPU", "gpu"), label_column("name", "gpu_name"),
                                label_column("address", "gpu_address"),
                                label_column("node", "gpu_node")};
  cells.insert(cells.end(), more.begin(), more.end());
  return {.title = "GPUs",
          .level = ViewLevel::flows,
          .apart = std::move(apart),
          .first = true,
          .cells = std::move(cells)};
}

Sweep latency(const std::vector<GpuLoads>& loads) {
  const auto values = [loads](const PlanInput& input) {
    const bool of_host = is_of_host(input.options.placement.memory);
    std::vector<AxisValue> its;
    for (const GpuLoads one : of_host ? std::vector{GpuLoads::cached} : loads)
      its.push_back(
          {{name_of(one)}, one, true, {{"loads", one == GpuLoads::cached ? "" : name_of(one)}}});
    return its;
  };
  return {.point = chase,
          .name = "gpu {gpus} latency {size} memory {memory}[ {loads}][ {pages}]",
          .axes = {measure("latency"), {{"gpu_loads"}, values}},
          .size = {.smaller = smaller_chases, .usual = chase_size},
          .of_kernels = false};
}

Sweep bandwidth() {
  return {.point = stream,
          .name = "gpu {gpus} {kernel} {size} memory {memory}[ {pages}]",
          .axes = {measure("bandwidth")},
          .size = {.smaller = smaller_streams, .usual = stream_size}};
}

void use(Benchmark& benchmark, std::vector<Sweep> sweeps) {
  benchmark.sweeps = std::move(sweeps);
  benchmark.figures.scaled = {};
  benchmark.figures.against = {};
  benchmark.shown.tables = tables();
  benchmark.shown.fact_rules = {};
  benchmark.figures.of_flow = {};
  benchmark.figures.totals = totals;
  benchmark.figures.conclude = {};
  benchmark.shown.warnings = {};
  benchmark.shown.facts = facts;
  benchmark.shown.remarks = {};
}

void use_matrix(Benchmark& benchmark, std::vector<Sweep> sweeps) {
  for (Sweep& sweep : sweeps) sweep.size.smaller = {};
  use(benchmark, std::move(sweeps));
  benchmark.shown.tables = matrices();
}

SurveyPart survey_part(const Machine& machine, SurveyPart part) {
  if (std::string why = why_no_gpu(machine); !why.empty()) return {.reason = std::move(why)};
  return part;
}

std::string memory_words(const std::string& memory) {
  return memory == "own" ? "its own memory" : "memory of " + place_words(memory);
}

std::vector<Figure> totals(const Case& one, const RunReport&) {
  const Figure* const sum = find_total(one, "bandwidth_sum");
  double peak = 0;
  for (const FlowResult& flow : one.flows) {
    if (flow.kernel == DeviceChaseParameters::name()) continue;
    // Caches have no bus.
    if (flow.level != "memory" || !flow.gpu || !flow.gpu->memory_bandwidth) return {};
    peak += *flow.gpu->memory_bandwidth;
  }
  if (sum == nullptr || !sum->estimate || !(peak > 0)) return {};
  return {{"peak_share", "1", scaled(*sum->estimate, 1 / peak), std::nullopt}};
}

}  // namespace numatlas::on_gpus

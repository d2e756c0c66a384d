#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "benchmarks/gpu/gpu.h"
#include "benchmarks/survey_words.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas::benchmark_gpu {

std::string memory_words(const std::string& memory) {
  if (memory == "own") return "its own memory";
  constexpr std::string_view gpu = "gpu:";
  if (memory.starts_with(gpu)) return "memory of GPU " + memory.substr(gpu.size());
  return "memory of " + place_words(memory);
}

namespace {

View latency_view(const CaseGroup& group) {
  const ScenarioResult& first = *group.cases.front();
  const std::string memory = label_of(first, "memory");
  View view;
  view.kind = ViewKind::curve;
  view.where = group.labels;
  view.title =
      fmt::format("Latency of a GPU's loads in ns ({}{})", memory_words(memory),
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
                           memory_words(label_of(*group.cases.front(), "memory")));
  view.notes = {
      fmt::format("all multiprocessors together; bytes counted as STREAM does, so that a copy "
                  "counts twice; {}: half of the 95 % interval",
                  plus_minus()),
      "of peak: of the rate of the memory's bus (width times clock); grid: blocks x threads of a "
      "launch, the fastest of those tried"};
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

}  // namespace

std::vector<Figure> totals(const ScenarioResult& point, const RunReport&) {
  const Figure* const sum = find_total(point, "bandwidth_sum");
  double peak = 0;
  for (const FlowResult& flow : point.flows) {
    if (flow.kernel == DeviceChaseParameters::name()) continue;
    // Caches have no bus.
    if (flow.level != "memory" || !flow.gpu || !flow.gpu->memory_bandwidth) return {};
    peak += *flow.gpu->memory_bandwidth;
  }
  if (sum == nullptr || !sum->estimate || !(peak > 0)) return {};
  return {{"peak_share", "1", scaled(*sum->estimate, 1 / peak), std::nullopt}};
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
                                   cached ? "L2" : memory_words(memory)),
                       "B/s", *estimate, shown ? heading : "",
                       shown ? fmt::format("{} {{}}", kernel) : ""});
    }
  }
  return facts;
}

}  // namespace numatlas::benchmark_gpu

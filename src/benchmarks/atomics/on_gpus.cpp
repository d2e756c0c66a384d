#include "benchmarks/atomics/on_gpus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/product.h"
#include "benchmarks/extremes.h"
#include "benchmarks/on_gpus.h"
#include "gpu/machine_gpus.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_atomics {
namespace {

// A thread, a warp, a block; of each multiprocessor so many at a time.
constexpr std::uint64_t warp = 32, block = DeviceCounterParameters::block,
                        threads_of_multiprocessor = 1024;
// A launch takes a millisecond or so.
constexpr std::uint64_t adds_of_launch = 1 << 22, adds_of_launch_at_host = 1 << 18,
                        fewest_adds = 16, most_adds = 4096;

Expected<PlannedScenario> point(const PlanInput& input, const std::optional<MemorySpec>& memory,
                                PageKind pages, const DeviceCounterParameters& work) {
  const std::string place = on_gpus::place_of(memory);
  const std::uint64_t page = page_bytes(input.machines.front(), pages).value;
  const Bytes size{(work.bytes().value + page - 1) / page * page};
  PlannedScenario planned = new_point(
      input,
      fmt::format("gpu {} fetch-add {} {} thread{} memory {}", work.gpu, name_of(work.sharing),
                  work.threads, work.threads == 1 ? "" : "s", place),
      size, pages);
  planned.head.labels = {{"gpus", std::to_string(work.gpu)},
                         {"memory", place},
                         {"sharing", name_of(work.sharing)},
                         {"threads", std::to_string(work.threads)}};
  TRY(on_gpus::add_flows(input, {{work}}, size, pages, memory, planned));
  return planned;
}

}  // namespace

Expected<Plan> plan_on_gpus(const GpuCounters& own, const PlanInput& input) {
  const auto gpus = TRY(of_option("--on", chosen_gpus(input, own.gpus)));
  const auto memory = TRY(on_gpus::memory_of(input));
  const bool of_host = on_gpus::is_of_host(memory);
  const PageKind pages = of_host ? input.pages.front() : PageKind::base;
  Plan plan;
  for (const int gpu : gpus) {
    const auto all = static_cast<std::uint64_t>(on_gpus::multiprocessors_of(input, gpu)) *
                     threads_of_multiprocessor;
    for (const Sharing sharing : own.sharings) {
      for (const std::uint64_t threads : {std::uint64_t{1}, warp, block, all}) {
        DeviceCounterParameters work;
        work.gpu = gpu;
        work.sharing = sharing;
        work.threads = threads;
        work.adds = std::clamp((of_host ? adds_of_launch_at_host : adds_of_launch) / threads,
                               fewest_adds, most_adds);
        add_point(plan, TRY(point(input, memory, pages, work)));
      }
    }
  }
  return plan;
}

std::vector<View> views_on_gpus(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"gpus", "memory"})) {
    const ScenarioResult& first = *group.cases.front();
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    view.title =
        fmt::format("Atomic additions by GPU {} in {}: millions per second",
                    label_of(first, "gpus"), on_gpus::memory_words(label_of(first, "memory")));
    view.notes = {
        "all threads together; same: one counter; neighbours: words of the same lines; own: lines "
        "of their own"};
    view.rows = "threads";
    view.columns = "sharing";
    view.cells = {label_column("threads", "threads"),
                  figure_column("", "operations_sum", in_millions, Part::with_interval)};
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> facts_on_gpus(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& group : groups_of(report, {"gpus", "memory"})) {
    const std::string gpu = label_of(*group.cases.front(), "gpus"),
                      memory = label_of(*group.cases.front(), "memory");
    for (const auto& [sharing, key, words] :
         {std::tuple(Sharing::same, "gpu_atomic_add_contended", "one counter"),
          std::tuple(Sharing::own, "gpu_atomic_add_own", "lines of their own")}) {
      const auto threads = [its = sharing](const ScenarioResult* one) {
        const bool counts =
            label_of(*one, "sharing") == name_of(its) && host_estimate_of(*one, "operations_sum");
        return counts ? std::optional(std::stod(label_of(*one, "threads"))) : std::nullopt;
      };
      const auto* const found = highest_of(group.cases, threads);
      if (found == nullptr) continue;
      const ScenarioResult& widest = **found;
      facts.push_back(
          {key,
           {{"gpu", gpu}, {"memory", memory}},
           fmt::format("fetch-add by {} threads of GPU {} to {} in {}", label_of(widest, "threads"),
                       gpu, words, on_gpus::memory_words(memory)),
           "1/s",
           *host_estimate_of(widest, "operations_sum"),
           "Atomics of GPU " + gpu,
           fmt::format("{{}} to {}", words)});
    }
  }
  return facts;
}

}  // namespace numatlas::benchmark_atomics

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

#include "benchmarks/axes.h"
#include "benchmarks/extremes.h"
#include "benchmarks/gpu/gpu.h"
#include "gpu/machine_gpus.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/device_flows.h"
#include "run/flows.h"

namespace numatlas::benchmark_atomics {
namespace {

// A thread, a warp, a block; of each multiprocessor so many at a time.
constexpr std::uint64_t warp = 32, block = 256, threads_of_multiprocessor = 1024;
constexpr int usual_multiprocessors = 64;
// A launch takes a millisecond or so.
constexpr std::uint64_t adds_of_launch = 1 << 22, fewest_adds = 64, most_adds = 4096;

std::vector<std::uint64_t> thread_counts(const PlanInput& input, int gpu) {
  int multiprocessors = 0;
  for (const Machine& machine : input.machines) {
    if (const Gpu* const its = find_gpu(machine, gpu))
      multiprocessors =
          std::max(multiprocessors, its->multiprocessors.value_or(usual_multiprocessors));
  }
  std::vector<std::uint64_t> counts{1, warp, block};
  counts.push_back(static_cast<std::uint64_t>(multiprocessors) * threads_of_multiprocessor);
  return counts;
}

PlannedScenario point(const PlanInput& input, const std::optional<MemorySpec>& memory,
                      PageKind pages, const DeviceCounterParameters& work) {
  const std::string place = memory ? memory->single.text() : "own";
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
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    if (find_gpu(input.machines[host], work.gpu) == nullptr) continue;
    std::set<int> taken;
    auto flow = benchmark_gpu::flow_at(input, static_cast<int>(host), KernelSpec{work}, size, pages,
                                       memory, taken, planned.skip);
    if (flow) planned.scenario.flows.push_back(*std::move(flow));
  }
  return planned;
}

}  // namespace

Expected<Plan> plan_on_gpus(const GpuCounters& own, const PlanInput& input) {
  TRY(check_one_kind_of_pages(input.options, "atomics"));
  const auto gpus = TRY(of_option("--on", chosen_gpus(input, own.gpus)));
  const auto memory = TRY(benchmark_gpu::memory_of(input));
  const bool of_host = memory && gpu_of(memory->single) < 0;
  const PageKind pages = of_host ? input.pages.front() : PageKind::base;
  Plan plan;
  for_each_of(
      [&](int gpu, Sharing sharing) {
        for (const std::uint64_t threads : thread_counts(input, gpu)) {
          DeviceCounterParameters work;
          work.gpu = gpu;
          work.sharing = sharing;
          work.threads = threads;
          work.adds = std::clamp(adds_of_launch / threads, fewest_adds, most_adds);
          add_point(plan, point(input, memory, pages, work));
        }
      },
      gpus, own.sharings);
  return plan;
}

std::vector<View> views_on_gpus(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"gpus", "memory"})) {
    const ScenarioResult& first = *group.cases.front();
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    view.title = fmt::format("Atomic additions by GPU {} in {}: millions per second",
                             label_of(first, "gpus"),
                             benchmark_gpu::memory_words(label_of(first, "memory")));
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
      const ScenarioResult* most = nullptr;
      for (const ScenarioResult* one : group.cases) {
        if (label_of(*one, "sharing") == name_of(sharing) && estimate_of(*one, "operations_sum"))
          most = one;
      }
      if (most == nullptr) continue;
      facts.push_back(
          {key,
           {{"gpu", gpu}, {"memory", memory}},
           fmt::format("fetch-add by {} threads of GPU {} to {} in {}", label_of(*most, "threads"),
                       gpu, words, benchmark_gpu::memory_words(memory)),
           "1/s",
           *estimate_of(*most, "operations_sum"),
           "Atomics of GPU " + gpu,
           fmt::format("{{}} to {}", words)});
    }
  }
  return facts;
}

}  // namespace numatlas::benchmark_atomics

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "memory/source.h"
#include "report/reporter.h"
#include "run/benchmark.h"
#include "run/flows.h"

namespace numatlas {

PlannedScenario new_point(const PlanInput& input, std::string name, Bytes size, PageKind pages) {
  PlannedScenario point;
  point.head.name = std::move(name);
  point.head.size = size;
  point.head.kernel.clear();
  point.head.pages = name_of(pages);
  point.scenario.stop = input.options.stop;
  return point;
}

const Flow& main_flow(const std::vector<Flow>& flows) {
  const auto load = std::ranges::find_if(flows, [](const Flow& flow) {
    const KernelTraits& traits = traits_of(flow.kernel);
    return flow.role == Role::load && (traits.streams() || traits.streams_on_gpu());
  });
  return load == flows.end() ? flows.front() : *load;
}

namespace {

void describe(ScenarioResult& head, const std::vector<Flow>& flows) {
  const KernelSpec& kernel = main_flow(flows).kernel;
  const KernelTraits& traits = traits_of(kernel);
  head.kernel = full_name(kernel);
  if (traits.streams() && traits.writes) head.stores = name_of(kernel.stores);
  if (const auto* const chase = flows.front().kernel.find<ChaseParameters>()) {
    head.order = name_of(chase->order);
    head.stride = chase->stride;
  } else if (traits_of(flows.front().kernel).chases()) {  // by a GPU
    head.order = name_of(ChainOrder::random);
    head.stride = on_device(flows.front().region.placement) ? Bytes{} : usual_line;
  }
}

}  // namespace

void add_point(Plan& plan, PlannedScenario point, bool serial) {
  if (point.head.kernel.empty() && !point.scenario.flows.empty())
    describe(point.head, point.scenario.flows);
  if (point.skip) point.scenario.flows.clear();
  point.point = plan.empty() ? 0 : plan.back().point + 1;
  point.scenario.name = point.head.name;
  if (!serial || point.scenario.flows.empty()) {
    plan.push_back(std::move(point));
    return;
  }
  std::vector<Flow> flows = std::move(point.scenario.flows);
  for (Flow& flow : flows) {
    point.scenario.name = fmt::format("{} worker {}", point.head.name, flow.worker);
    point.scenario.flows = {std::move(flow)};
    plan.push_back(point);
  }
}

Expected<void> check_refused(const std::vector<Refusal>& refused, const RunOptions& options) {
  const auto is_given = [&](const Refusal& one) {
    const PlacementSpec& placement = options.placement;
    if (one.option == "--cpus") return !placement.cpus.is_default || options.words.cpus;
    if (one.option == "--memory") return placement.memory || options.words.memory;
    if (one.option == "--serial") return options.serial;
    return one.several ? !options.thread_counts.empty() : placement.threads.has_value();
  };
  const auto found = std::ranges::find_if(refused, is_given);
  if (found == refused.end()) return {};
  return fail_usage(found->option, found->why, found->hint);
}

Expected<Workers> usual_workers(const RunOptions& options, const Machine& machine,
                                const TaskContext& task) {
  return resolve_placement(options.placement, machine, task, 0);
}

Expected<Workers> one_worker(const RunOptions& options, const Machine& machine,
                             const TaskContext& task) {
  return resolve_placement(options.placement, machine, task, 1);
}

Expected<Workers> worker_on_every_cpu(const RunOptions& options, const Machine& machine,
                                      const TaskContext& task) {
  PlacementSpec spec = options.placement;
  spec.cpus.is_default = false;  // pinned one by one, whatever OpenMP was told
  if (!task.launched) {
    const auto cpus = resolve_cpus(spec.cpus, machine, task);
    if (cpus) spec.threads = std::max(spec.threads.value_or(1), static_cast<int>(cpus->size()));
  }
  return resolve_placement(spec, machine, task, 0);
}

Expected<void> check_one_process(const PlanInput& input, const std::string& command) {
  for (const Worker& worker : input.layout.workers) {
    if (worker.rank == input.layout.workers.front().rank) continue;
    return fail_usage(command, "its workers share memory, so they must be threads of one process",
                      "start one task, without mpirun or with srun -n 1 -c CPUS, and name --cpus");
  }
  return {};
}

std::string Benchmark::text(const RunReport& report, const RunOptions& options) const {
  const bool for_people = options.format == "table" || options.format == "markdown";
  return text_in(options.format, report, options.style) +
         (for_people ? shown.remarks(report, options) : "");
}

}  // namespace numatlas

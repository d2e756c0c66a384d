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

PlannedCase new_case(const PlanInput& input, std::string name, Bytes size, PageKind pages) {
  PlannedCase planned;
  planned.head.name = std::move(name);
  planned.head.size = size;
  planned.head.kernel.clear();
  planned.head.pages = name_of(pages);
  planned.scenario.stop = input.options.stop;
  return planned;
}

const Flow& main_flow(const std::vector<Flow>& flows) {
  const auto load = std::ranges::find_if(flows, [](const Flow& flow) {
    const KernelTraits& traits = traits_of(flow.kernel);
    return flow.role == Role::load && (traits.streams() || traits.streams_on_gpu());
  });
  return load == flows.end() ? flows.front() : *load;
}

namespace {

void describe(Case& head, const std::vector<Flow>& flows) {
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

void add_case(Plan& plan, PlannedCase planned, bool serial) {
  if (planned.head.kernel.empty() && !planned.scenario.flows.empty())
    describe(planned.head, planned.scenario.flows);
  if (planned.skip) planned.scenario.flows.clear();
  planned.number = plan.empty() ? 0 : plan.back().number + 1;
  planned.scenario.name = planned.head.name;
  if (!serial || planned.scenario.flows.empty()) {
    plan.push_back(std::move(planned));
    return;
  }
  std::vector<Flow> flows = std::move(planned.scenario.flows);
  for (Flow& flow : flows) {
    planned.scenario.name = fmt::format("{} worker {}", planned.head.name, flow.worker);
    planned.scenario.flows = {std::move(flow)};
    plan.push_back(planned);
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

#include "run/file_flows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernels/traits.h"
#include "memory/source.h"
#include "run/file_device_flows.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

using WorkerOfCpu = std::map<CpuId, int>;

WorkerOfCpu workers_by_cpu(const Layout& layout) {
  WorkerOfCpu workers;
  for (std::size_t i = 0; i < layout.workers.size(); ++i) {
    if (const auto cpu = layout.workers[i].placement.cpu) workers[*cpu] = static_cast<int>(i);
  }
  return workers;
}

/// What depends on the rest of the flow: its defaults, as the other benchmarks have them.
void fill_in(const FileFlow& file, std::size_t index, const PlanInput& input, Flow& flow) {
  if (traits_of(flow.kernel.name).on_gpu) return fill_in_device(file, index, input, flow);
  const Machine& machine = machine_of(input, flow.worker);
  const CpuSet& cpus = worker_of(input, flow.worker).placement.cpus;
  ChainSpec& chain = flow.kernel.chain;
  if (traits_of(flow.kernel.name).chases() && !file.shares) {
    chain.order = file.order.value_or(ChainOrder::random);
    chain.stride = file.stride.value_or(line_bytes(machine, cpus));
    chain.page = file.window.value_or(page_bytes(machine, flow.region.pages));
    chain.chains = file.chains.value_or(1);
    chain.seed = file.seed ? *file.seed + index
                           : input.options.seed + static_cast<std::uint64_t>(flow.worker);
    flow.kernel.verify_full =
        file.verify_full.value_or(input.options.verify == Verify::full || is_walked_whole(flow));
  }
  flow.warm_up = file.warm_up.value_or(warm_up_bytes(machine, cpus, flow));
}

Expected<MemoryPlacement> source_memory(const FileFlow& file, std::size_t index, const Flow& flow,
                                        const PlanInput& input) {
  const WorkerPlacement& place = worker_of(input, flow.worker).placement;
  if (!file.source || !file.source->memory)
    return traits_of(file.kernel).on_gpu ? place.memory : flow.region.placement;
  const auto spec = parse_memory_spec(*file.source->memory);
  auto memory = spec ? resolve_memory(*spec, machine_of(input, flow.worker),
                                      static_cast<int>(index), place.cpus)
                     : Expected<MemoryPlacement>(fail(spec.error()));
  if (!memory) return fail(error_at(file.source->places, "memory", memory.error()));
  return memory;
}

Expected<Region> source_region(const FileFlow& file, std::size_t index, const Flow& flow,
                               const PlanInput& input) {
  auto memory = TRY(source_memory(file, index, flow, input));
  const auto asked = file.source ? file.source->pages : std::nullopt;
  const bool of_device = traits_of(file.kernel).on_gpu;
  Region source;
  source.placement = std::move(memory);
  source.bytes = file.source && file.source->size ? *file.source->size : flow.region.bytes;
  source.pages =
      pages_of_side(source.placement, asked, of_device ? input.pages.front() : flow.region.pages);
  return source;
}

/// A flow with memory of its own.
Expected<Flow> own_flow(const FileFlow& file, std::size_t index, int worker,
                        const WorkerOfCpu& workers, const PlanInput& input) {
  const WorkerPlacement& place = worker_of(input, worker).placement;
  Flow flow;
  flow.worker = worker;
  flow.kernel.name = file.kernel;
  flow.kernel.stores = file.stores.value_or(Stores::regular);
  if (file.mix) std::tie(flow.kernel.mix_reads, flow.kernel.mix_writes) = *file.mix;
  flow.kernel.lines = file.lines.value_or(1);
  flow.role = file.role.value_or(default_role(file.kernel));
  flow.rate = file.rate;
  TRY(check_gpus(file, machine_of(input, worker)));
  flow.region.placement =
      TRY(memory_of(file, index, place.memory, machine_of(input, worker), place.cpus));
  flow.region.bytes = file.size.value_or(Bytes{});
  flow.region.pages = pages_of_side(flow.region.placement, file.pages, input.pages.front());
  if (file.source || traits_of(file.kernel).copies_on_gpu()) {
    flow.source = TRY(source_region(file, index, flow, input));
  }
  if (file.first_touch) flow.first_touch = workers.at(*file.first_touch);
  fill_in(file, index, input, flow);
  return flow;
}

/// What a flow says of the memory that it shares is what its owner says.
void share(const std::vector<Flow>& flows, std::size_t owner, const FileFlow& file,
           const PlanInput& input, Flow& flow) {
  flow.shares = static_cast<int>(owner);
  flow.region = flows[owner].region;
  if (file.size) flow.region.bytes = *file.size;
  if (traits_of(flow.kernel.name).chases()) flow.kernel.chain = flows[owner].kernel.chain;
  flow.kernel.lines = flows[owner].kernel.lines;
  fill_in(file, 0, input, flow);
}

/// A worker's CPU, which is how a file names it.
CpuId cpu_of_worker(const PlanInput& input, int worker) {
  return *worker_of(input, worker).placement.cpu;
}

/// All keys of a flow.
FileFlow whole_file_flow(const Scenario& scenario, const Flow& flow, const PlanInput& input) {
  FileFlow file;
  file.cpus = {cpu_of_worker(input, flow.worker)};
  file.kernel = flow.kernel.name;
  if (traits_of(flow.kernel.name).mixes) file.mix = {flow.kernel.mix_reads, flow.kernel.mix_writes};
  if (flow.kernel.stores != Stores::regular) file.stores = flow.kernel.stores;
  if (flow.role != default_role(file.kernel)) file.role = flow.role;
  file.rate = flow.rate;
  file.warm_up = flow.warm_up;
  if (flow.shares) {
    const Flow& owner = scenario.flows[static_cast<std::size_t>(*flow.shares)];
    file.shares = cpu_of_worker(input, owner.worker);
    if (flow.region.bytes != owner.region.bytes) file.size = flow.region.bytes;
    return file;
  }
  file.size = flow.region.bytes;
  file.memory = flow.region.placement.text();
  if (flow.region.pages != PageKind::base) file.pages = flow.region.pages;
  if (flow.source) {
    file.source = FileSource{flow.source->bytes, flow.source->placement.text(), {}, {}};
    const PageKind usual = on_gpu(flow.kernel) ? PageKind::base : flow.region.pages;
    if (flow.source->pages != usual) file.source->pages = flow.source->pages;
  }
  if (on_gpu(flow.kernel)) write_device_keys(flow, file);
  if (flow.first_touch) file.first_touch = cpu_of_worker(input, *flow.first_touch);
  if (traits_of(flow.kernel.name).chases_on_cpu()) {
    const ChainSpec& chain = flow.kernel.chain;
    if (chain.order != ChainOrder::random) file.order = chain.order;
    file.stride = chain.stride;
    file.window = chain.page;
    file.seed = chain.seed;
    file.verify_full = flow.kernel.verify_full;
    if (chain.chains > 1) file.chains = chain.chains;
  }
  if (flow.kernel.lines > 1) file.lines = flow.kernel.lines;
  return file;
}

/// Takes away a key that is filled in the same without it.
template <class T, class Value>
void leave_out(FileFlow& file, std::optional<T> FileFlow::*key, const Value& value,
               const PlanInput& input, Flow& scratch) {
  if (!(file.*key)) return;
  const std::optional<T> kept = file.*key;
  file.*key = std::nullopt;
  fill_in(file, 0, input, scratch);
  if (value(scratch) != *kept) file.*key = kept;
}

FileFlow file_flow(const Scenario& scenario, const Flow& flow, const PlanInput& input) {
  FileFlow file = whole_file_flow(scenario, flow, input);
  Flow scratch = flow;
  leave_out(
      file, &FileFlow::stride, [](const Flow& f) { return f.kernel.chain.stride; }, input, scratch);
  leave_out(
      file, &FileFlow::window, [](const Flow& f) { return f.kernel.chain.page; }, input, scratch);
  // The order of any other has no windows: what they would be is of no account.
  if (flow.kernel.chain.order != ChainOrder::page_local) file.window = std::nullopt;
  leave_out(
      file, &FileFlow::seed, [](const Flow& f) { return f.kernel.chain.seed; }, input, scratch);
  leave_out(
      file, &FileFlow::verify_full, [](const Flow& f) { return f.kernel.verify_full; }, input,
      scratch);
  leave_out(
      file, &FileFlow::copies, [](const Flow& f) { return f.kernel.device.copies; }, input,
      scratch);
  leave_out(
      file, &FileFlow::loads, [](const Flow& f) { return f.kernel.device.loads; }, input, scratch);
  leave_out(
      file, &FileFlow::warm_up, [](const Flow& f) { return f.warm_up; }, input, scratch);
  return file;
}

/// The node of "bind:1", which can stand in "each:0,1"; "" for any other placement.
std::string single_node(const FileFlow& flow) {
  const std::string text = flow.memory.value_or("");
  const bool single = text.starts_with("bind:") && text.find(',') == std::string::npos;
  return single ? text.substr(std::string_view("bind:").size()) : "";
}

/// Flows in a row that differ in no more than the CPU, the next seed, and the node of each.
class Groups {
 public:
  void add(const FileFlow& flow) {
    if (flows_.empty() || !joins(flow)) {
      flows_.push_back(flow);
      nodes_ = single_node(flow);
      same_memory_ = true;
      return;
    }
    FileFlow& group = flows_.back();
    same_memory_ = same_memory_ && flow.memory == group.memory;
    group.cpus.push_back(flow.cpus.front());
    nodes_ += "," + single_node(flow);
    if (!same_memory_) each_[flows_.size() - 1] = "each:" + nodes_;
  }
  std::vector<FileFlow> take() && {
    for (const auto& [index, memory] : each_) flows_[index].memory = memory;
    return std::move(flows_);
  }

 private:
  bool joins(const FileFlow& flow) const {
    const FileFlow& group = flows_.back();
    FileFlow like = flow;
    like.cpus = group.cpus;
    if (group.seed && flow.seed) {
      if (*flow.seed != *group.seed + group.cpus.size()) return false;
      like.seed = group.seed;
    }
    const bool nodes = !single_node(group).empty() && !single_node(flow).empty();
    if (nodes) like.memory = group.memory;
    return like == group;
  }

  std::vector<FileFlow> flows_;
  std::map<std::size_t, std::string> each_;  ///< memory of groups on several nodes
  std::string nodes_;                        ///< of the last group
  bool same_memory_ = true;
};

FileScenario file_scenario(const PlannedScenario& planned, const PlanInput& input,
                           Nanoseconds time) {
  const RunOptions usual;
  FileScenario file;
  file.name = planned.scenario.name;
  const StopRule& stop = planned.scenario.stop;
  if (time != usual.stop.time) file.time = time;
  if (stop.precision != usual.stop.precision) file.precision = stop.precision;
  Groups groups;
  for (const Flow& flow : planned.scenario.flows)
    groups.add(file_flow(planned.scenario, flow, input));
  file.flows = std::move(groups).take();
  if (stop.to_the_end != default_to_the_end(file.flows)) file.to_the_end = stop.to_the_end;
  return file;
}

tl::unexpected<Error> no_words(const std::string& what, const std::string& hint = {}) {
  return fail_usage("--print-scenario", what, hint);
}

/// A file names workers by their CPUs.
Expected<void> check_layout(const Layout& layout) {
  if (layout.hosts.size() > 1) {
    return no_words("a scenario file applies to one host",
                    "run it on one host to print its scenario");
  }
  CpuSet seen;
  for (const Worker& worker : layout.workers) {
    if (!worker.placement.cpu) {
      return no_words(fmt::format("a worker runs on CPUs {} (pinned by OpenMP), but a scenario "
                                  "file names one CPU per worker",
                                  to_list(worker.placement.cpus)),
                      "name --cpus");
    }
    if (seen.contains(*worker.placement.cpu)) {
      return no_words(
          fmt::format("two workers are on CPU {}, but a scenario file has one flow per CPU",
                      worker.placement.cpu->value),
          "use fewer --threads or more --cpus");
    }
    seen.insert(*worker.placement.cpu);
  }
  return {};
}

}  // namespace

Expected<MemoryPlacement> memory_of(const FileFlow& flow, std::size_t index,
                                    const MemoryPlacement& otherwise, const Machine& machine,
                                    const CpuSet& cpus) {
  if (!flow.memory) return otherwise;
  const auto spec = parse_memory_spec(*flow.memory);
  auto memory = spec ? resolve_memory(*spec, machine, static_cast<int>(index), cpus)
                     : Expected<MemoryPlacement>(fail(spec.error()));
  if (!memory) return fail(error_at(flow.places, "memory", memory.error()));
  return memory;
}

Expected<Scenario> scenario_of(const FileScenario& file, const PlanInput& input) {
  Scenario scenario{file.name, {}, input.options.stop};
  StopRule& stop = scenario.stop;
  stop.time = file.time.value_or(stop.time);
  stop.least_time = std::min(StopRule{}.least_time, stop.time);
  stop.precision = file.precision.value_or(stop.precision);
  stop.to_the_end = file.to_the_end.value_or(default_to_the_end(file.flows));
  const WorkerOfCpu workers = workers_by_cpu(input.layout);
  std::map<CpuId, std::size_t> flow_of_cpu;
  std::vector<std::pair<std::size_t, const FileFlow*>> sharing;
  for (const FileFlow& flow : file.flows) {
    for (std::size_t i = 0; i < flow.cpus.size(); ++i) {
      auto own = TRY(own_flow(flow, i, workers.at(flow.cpus[i]), workers, input));
      flow_of_cpu[flow.cpus[i]] = scenario.flows.size();
      if (flow.shares) sharing.emplace_back(scenario.flows.size(), &flow);
      scenario.flows.push_back(std::move(own));
    }
  }
  for (const auto& [index, flow] : sharing)
    share(scenario.flows, flow_of_cpu.at(*flow->shares), *flow, input, scenario.flows[index]);
  return scenario;
}

Expected<ScenarioFile> file_of(const std::vector<PlannedScenario>& plan, const PlanInput& input) {
  TRY(check_layout(input.layout));
  // `numatlas run` has these, where it is given no options.
  const RunOptions usual;
  const PlanInput as_run{usual, input.layout, input.machines, {PageKind::base}};
  const auto is_measured = [](const PlannedScenario& planned) {
    return !planned.scenario.flows.empty();
  };
  const auto points = std::count_if(plan.begin(), plan.end(), is_measured);
  ScenarioFile file;
  for (const PlannedScenario& planned : plan) {
    if (!is_measured(planned)) {
      file.scenarios.emplace_back().name = planned.scenario.name;
      continue;
    }
    Nanoseconds time = planned.scenario.stop.time;
    if (input.options.time_of_all) time /= points;
    file.scenarios.push_back(file_scenario(planned, as_run, time));
    if (auto good = check_scenario(file.scenarios.back()); !good) {
      return no_words(fmt::format("no scenario file names '{}': {}", planned.scenario.name,
                                  full_text(good.error())));
    }
  }
  std::vector<CpuId> workers;
  for (const Worker& worker : input.layout.workers) workers.push_back(*worker.placement.cpu);
  if (cpus_named(file) != workers) file.cpus = workers;
  return file;
}

}  // namespace numatlas

// The plan of a run, for people and for programs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "engine/sharing.h"
#include "kernels/stream_loops.h"
#include "record/report_fields.h"
#include "run/file_flows.h"
#include "run/rounds.h"
#include "run/setup.h"

namespace numatlas {
namespace {

using nlohmann::json;

json device_json(const KernelSpec& kernel) {
  json value = {
      {"kernel", name_of(kernel)}, {"gpu", kernel.find<DeviceWork>()->gpu}, {"seed", kernel.seed}};
  if (const auto* const chase = kernel.find<DeviceChaseParameters>()) {
    value["loads"] = chase->loads;
    return value;
  }
  if (const auto* const stream = kernel.find<DeviceStreamParameters>()) {
    value["passes"] = stream->passes;
    value["blocks"] = stream->blocks > 0 ? json(stream->blocks) : json(nullptr);
    return value;
  }
  if (const auto* const counters = kernel.find<DeviceCounterParameters>()) {
    value["sharing"] = name_of(counters->sharing);
    value["threads"] = counters->threads;
    value["adds"] = counters->adds;
    return value;
  }
  const auto& work = kernel.as<DeviceCopyParameters>();
  value["pinning"] = name_of(work.pinning);
  value["depth"] = work.depth > 0 ? json(work.depth) : json(nullptr);  // as the copies need
  value["copies"] = work.copies;
  return value;
}

/// What a kernel is told, as far as it heeds it.
json kernel_json(const KernelSpec& kernel) {
  const KernelTraits& is = traits_of(kernel);
  if (const auto* const chase = kernel.find<ChaseParameters>()) {
    json value = {{"kernel", name_of(kernel)},
                  {"order", name_of(chase->order)},
                  {"stride", chase->stride.value},
                  {"seed", kernel.seed}};
    if (chase->chains > 1) value["chains"] = chase->chains;
    if (chase->tail_group > 0) value["tail_group"] = chase->tail_group;
    return value;
  }
  if (on_gpu(kernel)) return device_json(kernel);
  json value = {{"kernel", name_of(kernel)}};
  if (is.writes) {
    value["stores"] = name_of(kernel.stores);
  }
  const auto* const line = kernel.find<PingPongParameters>();
  if (line != nullptr && line->lines > 1) value["lines"] = line->lines;
  if (const std::string mix = mix_text(kernel); !mix.empty()) value["mix"] = mix;
  return value;
}

/// CPUs of workers that no case uses; "" where all are used, or nothing runs.
std::string left_out_text(const Setup& setup) {
  CpuSet used, all;
  for (const PlannedCase& planned : setup.plan) {
    for (const Flow& flow : planned.scenario.flows) {
      for (const int worker : {flow.worker, toucher_of(flow)})
        used = used | setup.layout.workers[static_cast<std::size_t>(worker)].placement.cpus;
    }
  }
  for (const Worker& worker : setup.layout.workers) all = all | worker.placement.cpus;
  const CpuSet left = all - used;
  return used.empty() || left.empty()
             ? ""
             : fmt::format("CPUs {} are left out: no case uses them\n", to_list(left));
}

}  // namespace

TimeNeeded time_of(const Setup& setup, const RunOptions& options) {
  return time_needed(runs_of_plan(setup.plan, setup.skips, {}, options.time_of_run(), options),
                     options, setup.machines);
}

json plan_json(const Setup& setup) {
  json workers = json::array();
  for (const Worker& worker : setup.layout.workers) {
    const int node = worker.placement.cpu_node.value;
    workers.push_back({{"host", setup.layout.hosts[static_cast<std::size_t>(worker.host)]},
                       {"rank", worker.rank},
                       {"thread", worker.placement.thread},
                       {"cpus", to_list(worker.placement.cpus)},
                       {"cpu_node", node < 0 ? json(nullptr) : json(node)},
                       {"memory", worker.placement.memory.text()}});
  }
  json cases = json::array();
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const PlannedCase& planned = setup.plan[i];
    json flows = json::array();
    for (const Flow& flow : planned.scenario.flows) {
      json value = kernel_json(flow.kernel);
      value["worker"] = flow.worker;
      value["bytes"] = flow.region.bytes.value;
      value["memory"] = flow.region.placement.text();
      value["pages"] = name_of(flow.region.pages);
      value["warm_up_bytes"] = flow.warm_up.value;
      if (flow.source) {
        value["source_bytes"] = flow.source->bytes.value;
        value["source_memory"] = flow.source->placement.text();
        if (flow.source->pages != flow.region.pages)
          value["source_pages"] = name_of(flow.source->pages);
      }
      if (flow.first_touch) value["first_touch"] = *flow.first_touch;
      if (flow.shares) value["shares"] = *flow.shares;
      if (flow.role == Role::load) value["role"] = "load";
      if (flow.rate) value["rate"] = *flow.rate;
      flows.push_back(std::move(value));
    }
    cases.push_back({{"name", planned.scenario.name},
                     {"flows", flows},
                     {"skip", setup.skips[i] ? json(skip_text(*setup.skips[i])) : json(nullptr)}});
    if (planned.later) cases.back()["later"] = true;
  }
  return {{"workers", workers}, {"cases", cases}, {"warnings", fields::to_json(setup.warnings)}};
}

std::string skip_text(const Error& skip) {
  return is_about(skip, "--pages") ? with_hint(full_text(skip), skip) : full_text(skip);
}

std::string plan_text(const Setup& setup, const RunOptions& options, bool with_time) {
  if (options.format == "json") {
    json plan = plan_json(setup);
    if (!options.placement_notes.empty()) plan["placement"] = options.placement_notes;
    if (const double seconds = time_of(setup, options).seconds; seconds > 0)
      plan["seconds"] = std::round(seconds * 10) / 10;
    return pretty(plan);
  }
  std::string text = count_text(setup.layout.workers.size(), "worker") + ":\n";
  for (std::size_t i = 0; i < setup.layout.workers.size(); ++i) {
    const Worker& worker = setup.layout.workers[i];
    const WorkerPlacement& place = worker.placement;
    text += fmt::format("  worker {:<4} {} rank {} thread {}  CPUs {} (node {})  memory {}\n", i,
                        setup.layout.hosts[static_cast<std::size_t>(worker.host)], worker.rank,
                        place.thread, to_list(place.cpus),
                        place.cpu_node.value < 0 ? "-" : std::to_string(place.cpu_node.value),
                        place.memory.text());
  }
  for (const std::string& note : options.placement_notes) text += note + "\n";
  const std::string time =
      time_text(time_of(setup, options), options, may_end_early(options, setup.machines));
  if (with_time && !time.empty()) text += "time: " + time + "\n";
  text += count_text(setup.plan.size(), "case") + ":\n";
  std::size_t width = 28;
  constexpr std::size_t widest = 60;
  for (const PlannedCase& planned : setup.plan)
    width = std::max(width, std::min(widest, planned.scenario.name.size()));
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const Scenario& scenario = setup.plan[i].scenario;
    const std::string flows = flows_text(scenario, setup.layout);
    text += fmt::format("  {:<{}} {}", scenario.name, width, flows.empty() ? "no flow" : flows);
    if (setup.plan[i].later) text += ", at rates that are measured first";
    if (setup.skips[i]) text += "  skipped: " + skip_text(*setup.skips[i]);
    text += '\n';
  }
  text += left_out_text(setup);
  if (!setup.why_base.empty()) text += fmt::format("base pages: {}\n", setup.why_base);
  for (const Warning& warning : setup.warnings) text += "warning: " + full_text(warning) + "\n";
  return text;
}

}  // namespace numatlas

#include "run/pilots.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/signals.h"
#include "engine/agreement.h"
#include "memory/source.h"
#include "record/estimate.h"
#include "record/labels.h"
#include "run/estimate_time.h"
#include "run/flows.h"
#include "run/metrics.h"
#include "run/room.h"

namespace numatlas {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds window{10};
/// Part of a run that pilots may take.
constexpr double part_of_time = 0.1;

/// A pilot that a run may have.
enum class PilotKind { reads, chase };

/// Which kind goes with a flow; nullopt for what none tells anything of.
std::optional<PilotKind> kind_for(const Flow& flow) {
  if (flow.role != Role::measured || on_gpu(flow.kernel)) return std::nullopt;
  if (is_chase(flow)) return PilotKind::chase;
  return traffic_per_step(flow.kernel).counted() > 0 ? std::optional(PilotKind::reads)
                                                     : std::nullopt;
}

/// Those of the flows measured, reads before chases.
std::set<PilotKind> kinds_for(const Setup& setup) {
  std::set<PilotKind> kinds;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    if (setup.skips[i]) continue;
    for (const Flow& flow : setup.plan[i].scenario.flows)
      if (const auto kind = kind_for(flow)) kinds.insert(*kind);
  }
  return kinds;
}

/// Workers on CPUs of their own; only the first of each host where `one_per_host`.
std::vector<int> pilot_workers(const Layout& layout, bool one_per_host) {
  std::vector<int> workers;
  std::set<std::pair<int, CpuId>> seen;
  for (std::size_t i = 0; i < layout.workers.size(); ++i) {
    const Worker& worker = layout.workers[i];
    const CpuId cpu = one_per_host ? CpuId{} : worker.placement.cpu.value_or(CpuId{});
    const bool any_cpu = !one_per_host && !worker.placement.cpu;
    if (seen.insert({worker.host, cpu}).second || any_cpu) workers.push_back(static_cast<int>(i));
  }
  return workers;
}

/// `part`: of the usual size, which is four times the caches. A window reads little of it and the
/// cases between two windows evict the rest, so half of it does where all is too much.
std::optional<PlannedPilot> plan_pilot(const PlanInput& input, PilotKind kind, std::uint64_t part) {
  const bool chase = kind == PilotKind::chase;
  const std::vector<int> workers = pilot_workers(input.layout, chase);
  const auto on_devices = [&](int worker) {
    const MemoryPlacement& memory = worker_of(input, worker).placement.memory;
    return on_device(memory) || !memory.source.empty();
  };
  if (workers.empty() || std::any_of(workers.begin(), workers.end(), on_devices))
    return std::nullopt;
  const Bytes least{(chase ? 64 : 16) * mib};
  const Bytes size{std::max(least.value, size_past_caches(input, workers, least).value / part)};
  PlannedPilot pilot;
  const Choice read{"read", {LoopParameters{Operation::read}}, false};
  for (const int worker : workers) {
    Flow flow = chase ? chase_flow(input, worker, size, PageKind::base)
                      : stream_flow(input, read, worker, size, PageKind::base);
    if (auto* const its = flow.kernel.find<ChaseParameters>()) its->verify_full = false;
    flow.warm_up = {};
    pilot.scenario.flows.push_back(std::move(flow));
  }
  constexpr double part_of_memory = 0.2;
  if (size_with_room(input, size, pilot.scenario.flows, part_of_memory) < size) return std::nullopt;
  pilot.head.kernel = chase ? "chase" : "read";
  pilot.head.memory = pilot.scenario.flows.front().region.placement.text();
  pilot.head.key = chase ? "pilot_latency" : "pilot_bandwidth";
  pilot.head.unit = chase ? Unit("s") : Unit("B/s");
  pilot.head.size = size;
  pilot.head.workers = pilot.scenario.flows.size();
  pilot.scenario.name = "pilot " + pilot.head.kernel;
  pilot.scenario.stop.time = window;
  pilot.scenario.keep_memory = true;
  pilot.scenario.checks = false;  // each would take longer than the window
  return pilot;
}

/// Of one pilot, from the figures of its flows: rates add up.
double value_of(const PilotSeries& head, const std::vector<double>& flows) {
  const double sum = std::accumulate(flows.begin(), flows.end(), 0.0);
  return head.unit == "s" ? sum / static_cast<double>(flows.size()) : sum;
}

/// Means of up to ten stretches of the series, as equal as can be: pilots close to each other are
/// alike, and an interval over single ones would be too narrow.
std::vector<double> batch_means(const std::vector<double>& values) {
  constexpr std::size_t most = 10;
  const std::size_t batches = std::min(most, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < batches; ++i) {
    const std::size_t first = i * values.size() / batches, end = (i + 1) * values.size() / batches;
    const auto at = [&](std::size_t index) { return values.begin() + static_cast<long>(index); };
    means.push_back(std::accumulate(at(first), at(end), 0.0) / static_cast<double>(end - first));
  }
  return means;
}

/// Whether every host has room for its largest scenario and the pilots, and a fifth to spare.
bool pilots_have_room(const Setup& setup, const std::vector<PlannedPilot>& pilots) {
  constexpr double most = 0.8;
  // Limits of the shell are of each process.
  using ByRank = std::map<int, std::uint64_t>;
  const auto bytes_on = [&](const Scenario& scenario, int host) {
    ByRank bytes;
    for (const Flow& flow : scenario.flows) {
      const Worker& worker = setup.layout.workers[static_cast<std::size_t>(flow.worker)];
      if (worker.host != host) continue;
      if (!flow.shares && !on_device(flow.region.placement))
        bytes[worker.rank] += flow.region.bytes.value;
      if (flow.source && !on_device(flow.source->placement))
        bytes[worker.rank] += flow.source->bytes.value;
    }
    return bytes;
  };
  for (std::size_t host = 0; host < setup.machines.size(); ++host) {
    ByRank together;
    for (const PlannedCase& planned : setup.plan)
      for (const auto& [rank, bytes] : bytes_on(planned.scenario, static_cast<int>(host)))
        together[rank] = std::max(together[rank], bytes);
    for (const PlannedPilot& pilot : pilots)
      for (const auto& [rank, bytes] : bytes_on(pilot.scenario, static_cast<int>(host)))
        together[rank] += bytes;
    std::vector<ProcessDemand> processes;
    for (const auto& [rank, bytes] : together) processes.push_back({{Region{Bytes{bytes}, {}}}});
    if (!has_room(processes, setup.machines[host], most)) return false;
  }
  return true;
}

}  // namespace

std::vector<PlannedPilot> plan_pilots(const Setup& setup, const RunOptions& options,
                                      Seconds session) {
  if (options.visits == 1) return {};  // which has nothing to be relative to
  double time = 0;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const Scenario& scenario = setup.plan[i].scenario;
    if (!setup.skips[i])
      time +=
          Seconds(scenario.stop.time).count() + preparation_of(scenario) + visiting_of(scenario);
  }
  if (options.time_of_all) time = Seconds(options.stop.time).count();
  if (options.limit.count() > 0) time = std::min(time, Seconds(options.limit).count());
  time = std::max(time, session.count());
  RunOptions quick = options;
  quick.ignore_side_caches = true;  // a pilot has to be prepared in little time
  const PlanInput input{quick, setup.layout, setup.machines, setup.pages};
  const std::set<PilotKind> kinds = kinds_for(setup);
  const auto pilots_of = [&](std::initializer_list<std::uint64_t> parts) {
    std::vector<PlannedPilot> pilots;
    double preparing = 0;
    for (const PilotKind kind : kinds) {
      for (const std::uint64_t part : parts) {
        auto pilot = plan_pilot(input, kind, part);
        if (!pilot) continue;
        constexpr double part_for_preparing = part_of_time / 2;
        const double more = preparation_of(pilot->scenario) + 2 * Seconds(window).count();
        if (preparing + more > part_for_preparing * time) continue;
        preparing += more;
        pilots.push_back(*std::move(pilot));
        break;
      }
    }
    return pilots_have_room(setup, pilots) ? pilots : std::vector<PlannedPilot>{};
  };
  std::vector<PlannedPilot> pilots = pilots_of({1, 2});
  return pilots.empty() ? pilots_of({2}) : pilots;
}

Expected<void> Pilots::add(const Setup& setup, const RunOptions& options, Seconds time,
                           Engine* shared) {
  if (!failure_.empty()) return {};
  for (PlannedPilot& planned : plan_pilots(setup, options, time)) {
    const bool there = std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      return kind.planned.head.key == planned.head.key;
    });
    if (there) continue;
    Kind kind{std::move(planned), shared, nullptr};
    if (shared == nullptr) {
      auto engine = make_engine(*comm_, setup.layout, setup.machine, {});
      if (auto agreed = agree(*comm_, error_of(engine)); !agreed) {
        const Error& error = agreed.error();
        if (error.kind == ErrorKind::peer || error.kind == ErrorKind::interrupted)
          return fail(error);
        give_up(kind.planned.head.key, error);
        continue;
      }
      kind.own_engine = *std::move(engine);
      kind.engine = kind.own_engine.get();
    }
    kinds_.push_back(std::move(kind));
  }
  return {};
}

/// The others go on.
void Pilots::give_up(const std::string& key, const Error& error) {
  failure_ = key + ": " + full_text(error);
  std::erase_if(kinds_, [&](const Kind& kind) { return kind.planned.head.key == key; });
}

Expected<void> Pilots::take_one(Kind& kind, const std::function<double()>& now) {
  auto traces = TRY(kind.engine->run(kind.planned.scenario));
  const double end = now();
  std::vector<double> mine;
  for (Trace& trace : traces) {
    const Flow& flow = kind.planned.scenario.flows[static_cast<std::size_t>(trace.flow)];
    const std::vector<Figure> figures = figures_of(flow, trace);
    // The CPU learns of a copy's end so late that it shows in 10 ms.
    const auto by_gpu = std::find_if(figures.begin(), figures.end(), [](const Figure& figure) {
      return figure.key == "event_bandwidth";
    });
    const auto figure = by_gpu == figures.end() ? figures.begin() : by_gpu;
    if (figure != figures.end() && figure->estimate) mine.push_back(figure->estimate->value);
  }
  if (comm_->size() > 1) {
    const auto all = TRY(comm_->gather_values<double>(mine));
    mine.clear();
    for (const std::vector<double>& its : all) mine.insert(mine.end(), its.begin(), its.end());
  }
  // A rank that was stopped has none; only rank 0 has those of all.
  if (mine.size() < kind.planned.scenario.flows.size()) return {};
  kind.planned.head.start.push_back(end - Seconds(window).count());
  kind.planned.head.end.push_back(end);
  kind.planned.head.values.push_back(value_of(kind.planned.head, mine));
  return {};
}

Expected<void> Pilots::take(const std::function<double()>& now, bool last) {
  if (kinds_.empty()) return {};
  // Rank 0's clock decides.
  const bool first =
      std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& kind) { return !kind.prepared; });
  const bool due = !stop_requested() && (first || last || rationed_ <= part_of_time * now());
  if (!TRY(comm_->broadcast_value(due))) return {};
  for (std::size_t i = 0; i < kinds_.size();) {
    Kind& kind = kinds_[i];
    const double begun = now();
    if (auto taken = take_one(kind, now); !taken) {
      const Error& error = taken.error();
      if (error.kind == ErrorKind::peer || error.kind == ErrorKind::interrupted) return taken;
      give_up(std::string(kind.planned.head.key), error);
      continue;
    }
    // Preparing was estimated, and is done once.
    rationed_ += kind.prepared ? now() - begun : Seconds(window).count();
    kind.prepared = true;
    ++i;
  }
  return {};
}

std::vector<PilotSeries> Pilots::series() const {
  std::vector<PilotSeries> all;
  for (const Kind& kind : kinds_) {
    all.push_back(kind.planned.head);
    PilotSeries& one = all.back();
    if (one.values.empty()) {
      all.pop_back();
      continue;
    }
    one.estimate = estimate_of_visits(batch_means(one.values), std::nullopt, std::nullopt);
  }
  return all;
}

std::optional<double> pilot_around(const PilotSeries& pilot, double start, double end) {
  std::optional<double> before, after;
  for (std::size_t i = 0; i < pilot.values.size(); ++i) {
    if (pilot.end[i] <= start) before = pilot.values[i];
    if (pilot.start[i] >= end && !after) after = pilot.values[i];
  }
  if (before && after) return (*before + *after) / 2;
  return before ? before : after;
}

void relate_to_pilots(Case& result, const std::vector<std::pair<double, double>>& times,
                      const std::vector<PilotSeries>& pilots) {
  if (!result.visits || !cache_text(result).empty()) return;
  for (VisitValues& figure : result.visits->figures) {
    figure.relative.reset();
    const bool related = figure.unit == "B/s" || figure.key == "latency";
    const PilotSeries* const pilot = pilot_for(result, figure.unit, pilots);
    if (!related || pilot == nullptr || figure.values.size() != times.size()) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const auto around = pilot_around(*pilot, times[i].first, times[i].second);
      if (around && *around > 0) ratios.push_back(figure.values[i] / *around);
    }
    if (ratios.size() >= least_visits && ratios.size() == times.size())
      figure.relative = estimate_of_visits(ratios, std::nullopt, std::nullopt);
  }
}

}  // namespace numatlas

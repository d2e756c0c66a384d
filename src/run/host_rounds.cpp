#include "run/host_rounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "fleet/fleet.h"
#include "run/host_placement.h"

namespace numatlas {

HostRounds::HostRounds(Comm& comm, const Setup& setup, RunReport& report, Progress& progress,
                       AfterRound after_round)
    : comm_(comm),
      setup_(setup),
      report_(report),
      progress_(progress),
      after_round_(std::move(after_round)),
      keeps_processes_(setup.fleet->keeps_processes) {
  report_.fleet = setup_.fleet->head;
  report_.hosts.clear();  // they are met
  report_.machines.clear();
  report_.workers.clear();
  for (const Flow& flow : setup_.plan.front().scenario.flows) {
    const int local = setup_.layout.workers[static_cast<std::size_t>(flow.worker)].rank;
    rank_of_.push_back(setup_.host->world_rank(local));
  }
  if (!leads()) return;
  gathering_ = std::make_unique<FleetGathering>(*comm_.leaders(), report_);
  for (int rank = 0; keeps_processes_ && rank < setup_.host->size(); ++rank) {
    processes_.push_back({setup_.host->world_rank(rank), {}, {}});
    processes_.back().starts.resize(report_.fleet->kernels.size());
    processes_.back().seconds.resize(report_.fleet->kernels.size());
  }
}

void HostRounds::begin(const Scenario& scenario, std::size_t first) {
  scenario_ = &scenario;
  first_kernel_ = first;
  round_.assign(scenario.flows.empty() ? 0 : scenario.flows.front().kernel.passes.size(), {});
}

/// Before the first pass: an error here is one of the ranks' talk, which the engine meets next.
void HostRounds::meet(const std::vector<const Trace*>& traces) {
  if (retesting_) return;
  const auto all = setup_.host->gather(placement_of_rank(traces));
  if (!all || !leads()) return;
  const HostPlacement placement = placement_of_host(*all);
  if (met_) {
    if (placement.text != placement_)
      later_warnings_.push_back(
          {"placement", "", "a later scenario's memory lay elsewhere: " + placement.text});
    for (const Warning& warning : placement.warnings) {
      // Said once, and not again by each scenario.
      if (std::find(said_warnings_.begin(), said_warnings_.end(), warning) != said_warnings_.end())
        continue;
      said_warnings_.push_back(warning);
      later_warnings_.push_back(warning);
    }
    return;
  }
  met_ = true;
  FleetHost host;
  host.name = setup_.layout.hosts.front();
  host.first_rank = setup_.host->world_rank(0);
  host.placement = placement_ = placement.text;
  host.warnings = setup_.warnings;
  host.warnings.insert(host.warnings.end(), placement.warnings.begin(), placement.warnings.end());
  said_warnings_ = host.warnings;
  const int workers = static_cast<int>(setup_.layout.workers.size());
  (void)gathering_->meet(host, kind_of(setup_.machine, setup_.host->size(), workers),
                         setup_.machine);
}

Expected<void> HostRounds::take_pass(int pass, std::span<const Sample> of_host) {
  const std::size_t kernels = round_.size();
  const std::size_t kernel = static_cast<std::size_t>(pass) % kernels;
  const std::span<const int> ranks(rank_of_.data(), of_host.size());
  round_[kernel] = reduce_pass(of_host, ranks);
  if (keeps_processes_ && !retesting_) {
    const std::vector<ProcessPass> passes = process_passes(of_host, ranks);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      processes_[i].starts[first_kernel_ + kernel].push_back(passes[i].start);
      processes_[i].seconds[first_kernel_ + kernel].push_back(passes[i].seconds);
    }
  }
  if (kernel + 1 < kernels) return {};
  TRY(gathering_->add_round(first_kernel_, round_));
  if (comm_.rank() != 0 || retesting_) return {};
  const int round = pass / static_cast<int>(kernels) + 1;
  progress_.phase(*scenario_, fmt::format("round {} of {}", round, report_.fleet->repeats));
  after_round_();
  return {};
}

Expected<void> HostRounds::gather_rest(const std::optional<CpuWatch>& watch) {
  std::optional<Error> problem;
  if (leads()) {
    problem = error_of(gathering_->add_warnings(later_warnings_));
    if (!problem && watch) problem = error_of(gathering_->add_cpu_use(watch->use()));
    if (!problem && keeps_processes_) problem = error_of(gathering_->add_processes(processes_));
  }
  return agree(comm_, problem);
}

Expected<void> HostRounds::retest(const std::vector<std::size_t>& chosen,
                                  const std::function<Expected<void>(bool)>& run) {
  std::string wanted(comm_.layout().hosts.size(), 'n');
  for (const std::size_t host : chosen) wanted[host] = 'y';
  const auto said = TRY(comm_.broadcast(wanted));
  if (said.find('y') == std::string::npos) return {};
  const auto here =
      static_cast<std::size_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  retesting_ = true;
  RunReport again;
  again.fleet = setup_.fleet->head;
  for (const FleetHost& host : report_.fleet->hosts) {
    FleetHost& entry = again.fleet->hosts.emplace_back();
    entry.name = host.name;
    entry.kind = host.kind;
    entry.first_rank = host.first_rank;
    entry.rounds.resize(again.fleet->kernels.size());
  }
  if (leads()) gathering_ = std::make_unique<FleetGathering>(*comm_.leaders(), again);
  auto ran = run(said[here] == 'y');
  if (comm_.rank() == 0 && ran) {
    Retest& retest = report_.fleet->retest.emplace();
    for (std::size_t host = 0; host < again.fleet->hosts.size(); ++host)
      if (said[host] == 'y') retest.hosts.push_back(std::move(again.fleet->hosts[host]));
  }
  gathering_.reset();
  return ran;
}

}  // namespace numatlas

#include "run/host_rounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "run/host_placement.h"

namespace numatlas {

HostRounds::HostRounds(Comm& comm, const Setup& setup, RunReport& report, Progress& progress,
                       AfterRound after_round)
    : comm_(comm),
      setup_(setup),
      report_(report),
      progress_(progress),
      after_round_(std::move(after_round)),
      keeps_processes_(setup.by_hosts->keeps_processes) {
  report_.hosts.clear();  // they are met
  report_.machines.clear();
  report_.workers.clear();
  for (const Flow& flow : setup_.plan.front().scenario.flows) {
    const int local = setup_.layout.workers[static_cast<std::size_t>(flow.worker)].rank;
    rank_of_.push_back(setup_.host->world_rank(local));
  }
  if (!leads()) return;
  gathering_ = std::make_unique<HostGathering>(*comm_.leaders(), report_);
  if (!keeps_processes_) return;
  std::vector<ProcessPasses> all(static_cast<std::size_t>(setup_.host->size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    all[rank].rank = setup_.host->world_rank(static_cast<int>(rank));
  processes_.assign(setup_.by_hosts->cases.size(), all);
}

std::size_t HostRounds::first_case_of(std::size_t scenario) {
  if (report_.cases.empty()) report_.cases = setup_.by_hosts->cases;
  std::size_t first = 0;
  for (std::size_t i = 0; i < scenario; ++i)
    first += setup_.plan[i].scenario.flows.front().kernel.as<PassesParameters>().passes.size();
  return first;
}

void HostRounds::begin(std::size_t index, const Scenario& scenario) {
  scenario_ = &scenario;
  first_case_ = first_case_of(index);
  round_.assign(scenario.flows.empty()
                    ? 0
                    : scenario.flows.front().kernel.as<PassesParameters>().passes.size(),
                {});
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
          {"placement", "", "a later case's memory lay elsewhere: " + placement.text});
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
  HostRow host;
  host.first_rank = setup_.host->world_rank(0);
  host.processes = setup_.host->size();
  host.workers = static_cast<int>(setup_.layout.workers.size());
  host.placement = placement_ = placement.text;
  host.identity = setup_.machine.identity;
  said_warnings_ = setup_.warnings;
  said_warnings_.insert(said_warnings_.end(), placement.warnings.begin(), placement.warnings.end());
  (void)gathering_->meet(setup_.layout.hosts.front(), host,
                         kind_of(setup_.machine, host.processes, host.workers), said_warnings_,
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
      ProcessPasses& its = processes_[first_case_ + kernel][i];
      its.starts.push_back(passes[i].start);
      its.seconds.push_back(passes[i].seconds);
    }
  }
  if (kernel + 1 < kernels) return {};
  TRY(gathering_->add_round(first_case_, round_));
  if (comm_.rank() != 0 || retesting_) return {};
  const int round = pass / static_cast<int>(kernels) + 1;
  progress_.phase(*scenario_, fmt::format("round {} of {}", round, setup_.by_hosts->rounds));
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
  retested_ = true;
  const auto again = TRY(comm_.broadcast_values<std::size_t>(chosen));
  if (again.empty()) return {};
  const auto here =
      static_cast<std::size_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  retesting_ = true;
  if (leads()) gathering_->run_again();
  auto ran = run(std::ranges::find(again, here) != again.end());
  if (!ran)
    for (Case& one : report_.cases)
      for (HostTotals& totals : one.host_totals) totals.again.clear();
  return ran;
}

std::vector<Warning> HostRounds::warnings() const {
  return gathering_ ? gathering_->warnings() : std::vector<Warning>{};
}

}  // namespace numatlas

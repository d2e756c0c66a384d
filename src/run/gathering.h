// What ranks measured on its way to rank 0. Values go as their lists of fields
// (record/report_fields.h), or bit by bit where there are many (Group::gather_values); where a run
// may have more ranks than rank 0 can hear, they are folded on each host first.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/rows.h"
#include "base/json.h"
#include "comm/comm.h"
#include "engine/engine.h"
#include "record/report_fields.h"
#include "run/progress.h"
#include "run/setup.h"
#include "run/visits.h"

namespace numatlas {

/// A value as ranks send it: with all digits, and with what no file has.
template <class T>
std::string to_send(const T& value) {
  using fields::to_json;
  const fields::InTransit whole;
  return json_line(to_json(value));
}
/// Its inverse.
template <class T>
Expected<T> received(const std::string& text) {
  using fields::from_json;
  const fields::InTransit whole;
  T value{};
  std::optional<fields::Problem> problem;
  from_json(nlohmann::json::parse(text), fields::Place("value", problem), value);
  if (!problem) return value;
  return fail(ErrorKind::internal,
              fmt::format("a rank sent a field '{}' that {}", problem->path, problem->why));
}

/// Every rank's value on rank 0, by rank; empty elsewhere.
template <class T>
Expected<std::vector<T>> gather_fields(Group& group, const T& mine) {
  const auto texts = TRY(group.gather(to_send(mine)));
  std::vector<T> all;
  for (const std::string& text : texts) all.push_back(TRY(received<T>(text)));
  return all;
}

/// On rank 0, by host, what `fold` made of the values of all ranks of that host; empty elsewhere.
/// Rank 0 hears the first ranks of hosts, and they hear their own hosts. `fold` runs there.
template <class T, class Fold>
auto gather_by_host(Comm& comm, const T& mine, const Fold& fold)
    -> Expected<std::vector<std::invoke_result_t<Fold, const std::vector<T>&>>> {
  const auto of_host = TRY(gather_fields(comm.host(), mine));
  Group* const leaders = comm.leaders();
  if (leaders == nullptr) return {};
  return gather_fields(*leaders, fold(of_host));
}

/// Puts into the report of rank 0 what `watch` saw on each host, and a warning where that may have
/// changed the figures. One rank of each host has a watch; of a run without any nothing is said.
/// Collective with `all_hosts`; otherwise, after a stop, only the own host is asked.
Expected<void> note_cpu_use(const std::optional<CpuWatch>& watch, Comm& comm, bool all_hosts,
                            RunReport& report);

/// Warns of ranks that did not answer for long, as the first rank of each host knows them.
/// Collective with `all_hosts`; otherwise of those that rank 0 knows.
Expected<void> note_silences(Comm& comm, bool all_hosts, RunReport& report);

/// Of one visit, in which each host had such a watch: the same on every rank. `disturbed`: rank 0
/// knows that it was; `counts`: it knows that the visit must not be measured again. Collective.
Expected<VisitUse> use_of_visit(const std::optional<CpuWatch>& watch, Comm& comm, bool disturbed,
                                bool counts);

/// What hosts have to say, with the index of the host that says it.
using SaidByHosts = std::vector<std::pair<std::size_t, Warning>>;
/// Each matter once, with the names of the hosts that said it; without names where all did.
std::vector<Warning> said_once(const SaidByHosts& said, const std::vector<std::string>& hosts);

/// Where the memory of flows lies, as observed. Of large regions the kernel was asked for a sample
/// of the pages, which is scaled to all of them.
struct PlacementSeen {
  std::map<int, double> bytes_by_node;
  double unknown = 0;  ///< bytes
  bool sampled = false;
  std::vector<std::string> pages;  ///< kinds
  std::vector<Warning> warnings;   ///< each once
};
void list_fields(auto& f, Of<PlacementSeen> auto& p) {
  f("bytes_by_node", p.bytes_by_node);
  f("unknown", p.unknown);
  f("sampled", p.sampled);
  f("pages", p.pages);
  f("warnings", p.warnings);
}
PlacementSeen placement_seen(const Trace& trace);
PlacementSeen fold(const std::vector<PlacementSeen>& parts);
/// "6 MiB on node 0, 6 MiB on node 1 (4 KiB)".
std::string to_text(const PlacementSeen& seen);

/// One pass on one host: a sample for each worker, and the global rank that each belongs to
/// (workers of one rank stand together). Pure.
PassTimes reduce_pass(std::span<const Sample> workers, std::span<const int> rank_of);
/// Adds the same pass to those of each process.
void add_pass(std::span<const Sample> workers, std::span<const int> rank_of,
              std::vector<ProcessPasses>& processes);

/// What a host says of itself when its memory stands.
struct HostWords {
  std::string name;
  HostRow row;
  HostKind kind;
  std::vector<Warning> warnings;
};
void list_fields(auto& f, Of<HostWords> auto& h) {
  f("name", h.name);
  f("row", h.row);
  f("cpu_model", h.kind.cpu_model);
  f("os", h.kind.os);
  f("cpus", h.kind.cpus);
  f("nodes", h.kind.nodes);
  f("memory", h.kind.memory);
  f("warnings", h.warnings);
}
/// Puts the hosts whose words came to rank 0 into a report that has its cases; of each kind the
/// first host's machine comes after. Of hosts that are there already, what is new. Collective over
/// the first ranks of hosts.
Expected<void> meet_hosts(Group& leaders, std::vector<HostWords> all, const Machine& mine,
                          RunReport& report, SaidByHosts& said);
/// Adds one round of every host to the cases from `first` on: to their passes, or to `again`.
Expected<void> add_round(Group& leaders, std::size_t first, std::span<const PassTimes> mine,
                         std::vector<PassTimes> HostTotals::*to, RunReport& report);

/// A run that is reduced to its hosts: each sets up by itself, all take rounds of passes together,
/// and rank 0 gets a few numbers for each host and pass, whatever the number of ranks. A run that
/// breaks off has every round before.
class HostRounds {
 public:
  /// Told on rank 0 after every round.
  using AfterRound = std::function<void()>;

  /// `report` loses its hosts, which are met. All of these must outlive it.
  HostRounds(Comm& comm, const Setup& setup, const ReducedToHosts& reduced, RunReport& report,
             Progress& progress, AfterRound after_round);

  /// For EngineOptions: what is told when memory stands.
  void meet(const std::vector<const Trace*>& traces);
  /// What this rank measured in a round. A round that was stopped counts nowhere, and is an error
  /// on all ranks. Collective.
  Expected<void> take_round(const Scenario& scenario, const std::vector<Trace>& traces);
  /// The first case of a scenario of the plan. Puts the cases into the report where they are not
  /// there yet.
  std::size_t first_case_of(std::size_t scenario);
  /// Before a scenario of the plan. What is run of it may have no flows.
  void begin(std::size_t index);
  /// What each host still has to say, once all scenarios have run. Collective.
  Expected<void> gather_rest(const std::optional<CpuWatch>& watch);
  /// The hosts that rank 0 chose, indices into the report's, run all scenarios again with `run`
  /// while the others wait; its argument is whether this host takes part. Collective.
  Expected<void> retest(const std::vector<std::size_t>& chosen,
                        const std::function<Expected<void>(bool takes_part)>& run);
  /// Whether that was asked for, if only for no host.
  bool retested() const { return retested_; }
  /// What the hosts said of themselves, on rank 0.
  std::vector<Warning> warnings() const { return said_once(said_, report_.hosts); }

 private:
  Comm& comm_;
  const Setup& setup_;
  RunReport& report_;
  Progress& progress_;
  AfterRound after_round_;
  const ReducedToHosts& reduced_;
  std::vector<int> rank_of_;                           ///< by flow of this host
  std::size_t first_case_ = 0;                         ///< of the scenario at hand
  std::vector<std::vector<ProcessPasses>> processes_;  ///< of this host by case, where kept
  SaidByHosts said_;
  bool retesting_ = false, retested_ = false;
};

}  // namespace numatlas

#include "run/setup.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "engine/agreement.h"
#include "kernels/stream_loops.h"
#include "machine/source.h"
#include "memory/source.h"
#include "record/labels.h"
#include "record/report_fields.h"
#include "run/check_plan.h"
#include "run/device_flows.h"
#include "run/gathering.h"
#include "run/levels.h"
#include "run/place_words.h"
#include "run/room.h"

namespace numatlas {
namespace {

using nlohmann::json;

/// Why the flows of one host cannot run together there; nullopt when they can.
std::optional<Error> host_problem(const Setup& setup, const Scenario& scenario, int host) {
  std::vector<Region> regions;
  std::map<int, ProcessDemand> ranks;
  std::size_t workers = 0;
  for (const Flow& flow : scenario.flows) {
    const Worker& worker = setup.layout.workers[static_cast<std::size_t>(flow.worker)];
    if (worker.host != host || flow.shares) continue;
    ++workers;
    const std::size_t others = regions.size();
    regions.push_back(flow.region);
    if (flow.source) regions.push_back(*flow.source);
    std::vector<Region>& its = ranks[worker.rank].regions;
    its.insert(its.end(), regions.begin() + static_cast<std::ptrdiff_t>(others), regions.end());
  }
  if (regions.empty()) return std::nullopt;
  const auto is_thp = [](const Region& region) { return region.pages == PageKind::thp; };
  if (std::any_of(regions.begin(), regions.end(), is_thp)) {
    if (auto problem = page_kind_problem(PageKind::thp, setup.machine, {}, Bytes{})) return problem;
  }
  if (auto problem = error_of(
          check_fits(with_threads(std::move(ranks), setup.layout), setup.machine, workers)))
    return problem;
  return gpu_room_problem(regions, setup.machine);
}

/// Less memory would do.
bool is_of_size(const Error& error) {
  return error.kind == ErrorKind::resource && !is_about(error, "--pages");
}

/// A run that could only say what it leaves out is an error, also where leaving out was asked for.
Expected<void> check_something_is_left(const Setup& setup, const std::optional<Error>& first,
                                       const std::string& hint_of_size) {
  std::optional<Error> error = first;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    if (!setup.skips[i] && !setup.plan[i].reference) return {};
    if (!error) error = setup.skips[i];
  }
  if (!error) return {};
  if (is_of_size(*error)) {
    error->hint.clear();
    error->option_hint = hint_of_size;
  }
  error->message += "; nothing remains to be measured";
  return fail(*std::move(error));
}

/// What must be alike in the plans of all ranks. Every rank computed its plan from its own words:
/// with others it would wait for what never comes, or its figures would stand under rank 0's names.
/// Hosts that a run is reduced to differ in their workers, but in no pass.
std::string plan_words(const Setup& setup, const RunOptions& options, const Benchmark& benchmark) {
  json words{options.serial, options.stop.time.count(), options.precision};
  const auto& hosts = benchmark.reduced_to_hosts;
  if (hosts) {
    words.push_back({hosts->rounds, hosts->keeps_processes, instruction_set()});
    for (const PageKind kind : options.pages) words.push_back(name_of(kind));
  } else {
    words.push_back(plan_json(setup)["cases"]);
  }
  for (const PlannedCase& planned : setup.plan) {
    const Scenario& scenario = planned.scenario;
    words.push_back({scenario.name, scenario.stop.steps.value_or(0)});
    for (const Case& one : planned.passes)
      words.push_back({one.name, one.stores, fields::to_json(one.figures)});
  }
  return std::to_string(std::hash<std::string>{}(words.dump()));
}

Expected<void> check_all_plan_alike(Comm& comm, const Expected<std::string>& mine) {
  const auto unlike = TRY(first_unlike(comm, mine));
  if (!unlike) return {};
  return fail({ErrorKind::usage, fmt::format("rank {} has different options from rank 0", *unlike),
               "give all ranks the same options", "",
               "; --memory each:... and --cpus LIST/LIST differ by rank in the same words"});
}

/// By --pages, or by words of a file.
bool has_several_kinds_of_pages(const Setup& setup) {
  std::set<PageKind> kinds(setup.pages.begin(), setup.pages.end());
  for (const PlannedCase& planned : setup.plan)
    for (const Flow& flow : planned.scenario.flows) kinds.insert(flow.region.pages);
  return kinds.size() > 1;
}

/// Every host looked at its own part of every scenario, by its first rank; all hear of all
/// problems.
Expected<void> find_skips(Setup& setup, const RunOptions& options, Comm& comm,
                          const Benchmark& benchmark) {
  json mine = json::array();
  const HostLayout& hosts = comm.layout();
  for (std::size_t i = 0; comm.local_rank() == 0 && i < setup.plan.size(); ++i) {
    if (setup.plan[i].skip) continue;
    const int host = hosts.host_of[static_cast<std::size_t>(comm.rank())];
    if (const auto problem = host_problem(setup, setup.plan[i].scenario, host))
      mine.push_back({i, error_to_send(*problem)});
  }
  const auto all = TRY(comm.all_gather(mine.dump()));
  const bool several_kinds = has_several_kinds_of_pages(setup);
  std::optional<Error> first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const json& sent : json::parse(all[rank])) {
      const auto place = sent[0].get<std::size_t>();
      Error problem = in_options(error_received(sent[1]), setup.plan[place], benchmark);
      if (hosts.hosts.size() > 1)
        problem.where = setup.layout.hosts[static_cast<std::size_t>(hosts.host_of[rank])];
      const bool skip = setup.plan[place].optional ||
                        (is_about(problem, "--pages") && several_kinds) ||
                        (problem.kind == ErrorKind::resource && options.skip_too_large);
      if (!first) first = problem;
      if (!skip) return fail(std::move(problem));
      setup.skips[place] = std::move(problem);
    }
  }
  return check_something_is_left(setup, first, benchmark.options.less_memory_hint);
}

/// Nodes whose workers ask for local memory that can't be there, and why.
void warn_of_local(const Setup& setup, std::size_t host, SaidByHosts& said) {
  const Machine& machine = setup.machines[host];
  NodeSet impossible;
  for (const Worker& worker : setup.layout.workers) {
    const WorkerPlacement& place = worker.placement;
    const bool known = place.cpu_node.value >= 0;
    if (worker.host != static_cast<int>(host) || place.memory.mode != MemoryMode::local || !known)
      continue;
    if (!machine.usable_memory_nodes().contains(place.cpu_node)) impossible.insert(place.cpu_node);
  }
  for (NodeId id : impossible) {
    const NumaNode* node = machine.find_node(id);
    const bool has_memory = node != nullptr && node->may_have_memory();
    std::string text = fmt::format(
        "memory local: node {} {}; its workers use the nearest node with memory", id.value,
        has_memory ? fmt::format("is not among the memory nodes that this process may use ({})",
                                 to_list(machine.usable_memory_nodes()))
                   : "has no memory");
    said.emplace_back(host, Warning{"memory-not-local", "", std::move(text)});
  }
}

/// Whether two workers of a host may run on two hardware threads of one core.
bool workers_share_a_core(const Setup& setup, int host) {
  const Machine& machine = setup.machines[static_cast<std::size_t>(host)];
  std::map<std::optional<int>, int> workers_by_core;
  for (const Worker& worker : setup.layout.workers) {
    if (worker.host != host) continue;
    std::set<std::optional<int>> cores;
    for (CpuId cpu : worker.placement.cpus) {
      const Cpu* found = machine.find_cpu(cpu);
      if (found != nullptr) cores.insert(found->core);
    }
    for (const auto& core : cores) {
      if (++workers_by_core[core] > 1) return true;
    }
  }
  return false;
}

/// Settings that disturb.
void warn_of_settings(const Setup& setup, std::size_t host, SaidByHosts& said) {
  for (const Setting& setting : setup.machines[host].settings) {
    if (setting.warning.empty()) continue;
    if (setting.name == "smt" && !workers_share_a_core(setup, static_cast<int>(host))) continue;
    std::string text = fmt::format("{} = {}: {}", setting.name, setting.value, setting.warning);
    said.emplace_back(host, Warning{"setting", "", std::move(text)});
  }
}

void warn_of_quota(const Setup& setup, std::size_t host, SaidByHosts& said) {
  const Allowance& allowance = setup.machines[host].allowance;
  const auto workers =
      std::ranges::count(setup.layout.workers, static_cast<int>(host), &Worker::host);
  if (!allowance.cpu_quota || static_cast<double>(workers) <= *allowance.cpu_quota) return;
  std::string text = fmt::format(
      "{} on a CPU quota of {:.4g} CPUs ({}): they are stopped in turn; use fewer "
      "(--threads), or raise the quota",
      count_text(static_cast<int>(workers), "worker"), *allowance.cpu_quota,
      allowance.cpu_quota_source);
  said.emplace_back(host, Warning{"oversubscribed", "", std::move(text)});
}

void add_warnings(Setup& setup) {
  const std::size_t hosts = setup.machines.size();
  SaidByHosts said;
  for (std::size_t host = 0; host < hosts; ++host) warn_of_local(setup, host, said);
  for (std::size_t host = 0; host < hosts && setup.layout.workers_per_cpu() > 1; ++host)
    said.emplace_back(host, Warning{"oversubscribed", "",
                                    "more workers than CPUs: samples include time spent waiting "
                                    "for a CPU, and workers run in turns"});
  for (std::size_t host = 0; host < hosts; ++host) warn_of_quota(setup, host, said);
  for (std::size_t host = 0; host < hosts; ++host) warn_of_settings(setup, host, said);
  setup.warnings = said_once(said, setup.layout.hosts);
}

/// Of figures that are meant to be those of memory: what runs tells of each case is told of a plan
/// in a line for each cache.
void warn_of_caches(Setup& setup) {
  std::map<std::string, std::vector<std::string>> scenarios;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const Scenario& scenario = setup.plan[i].scenario;
    if (setup.skips[i]) continue;
    for (const std::string& cache : caches_of(setup.machines, setup.layout, scenario))
      scenarios[cache].push_back(scenario.name);
  }
  for (const auto& [level, names] : scenarios) {
    const std::size_t count = names.size();
    setup.warnings.push_back(
        {"fits-cache", count == 1 ? names.front() : "",
         cache_warning_text(count == 1 ? "a figure" : fmt::format("{} figures", count), level)});
  }
}

/// A recorded machine keeps its own name, wherever it is looked at.
void name_recorded_hosts(Layout& layout, const Machine& machine) {
  const std::string name = machine.host.empty() ? "recorded" : machine.host;
  for (std::size_t i = 0; i < layout.hosts.size(); ++i) {
    layout.hosts[i] = layout.hosts.size() == 1 ? name : fmt::format("{}-{}", name, i);
  }
}

/// The machine of this host, with what the benchmark has to know of it.
Expected<Machine> own_machine(const Benchmark& benchmark, const RunOptions& options,
                              const Machine* known) {
  auto machine =
      TRY(known != nullptr ? Expected<Machine>(*known) : machine_of_option(options.machine));
  if (benchmark.of_gpus) TRY(complete_gpus(options, machine));
  return machine;
}

/// Tells the others of this rank's machine and workers, and fills in those of all. `base`: a host
/// of the run gives base pages only.
Expected<void> meet_ranks(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                          const Expected<Machine>& mine, bool base, Setup& setup) {
  const auto words_of = [&](const Machine& machine) {
    return json::array(
               {to_list(machine.usable_cpus()), comm.local_rank() == 0 ? to_json(machine) : json()})
        .dump();
  };
  const auto all = TRY(all_gather(comm, mine.map(words_of)));
  setup.machine = *mine;
  setup.machines.resize(comm.layout().hosts.size());
  std::vector<std::string> cpus;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const json words = json::parse(all[rank]);
    cpus.push_back(words[0]);
    if (words[1].is_null()) continue;
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    setup.machines[host] = TRY(machine_from_json(words[1]));
  }
  const BestPages best = best_pages(setup.machine);
  setup.pages = options.pages;
  if (setup.pages.empty()) {
    setup.pages = {base ? PageKind::base : best.kind};
    if (base) setup.why_base = best.why_base.empty() ? "another host has no other" : best.why_base;
  }
  setup.layout =
      TRY(gather_layout(comm, benchmark.workers(options, setup.machine, task_context(comm, cpus))));
  if (!options.machine.empty()) name_recorded_hosts(setup.layout, setup.machine);
  return {};
}

constexpr const char* why_base_where_spread = "memory is spread over nodes page by page";

bool is_spread(const MemoryPlacement& placement) {
  const MemoryMode mode = placement.in_force().mode;
  return mode == MemoryMode::interleave || mode == MemoryMode::weighted;
}

/// Why huge pages do not fit a region: memory of files and devices has the pages that its source
/// gives, and memory that is spread over nodes page by page would lie on one of them. "": they do.
std::string why_base_of(const Region& region) {
  if (region.pages == PageKind::base) return "";
  if (!source_of(region.placement).takes_pages) return "its source has pages of its own";
  return is_spread(region.placement) ? why_base_where_spread : "";
}

std::string why_base_of(const std::vector<PlannedCase>& plan) {
  for (const PlannedCase& planned : plan)
    for (const Flow& flow : planned.scenario.flows) {
      std::string why = why_base_of(flow.region);
      if (why.empty() && flow.source) why = why_base_of(*flow.source);
      if (!why.empty()) return why;
    }
  return "";
}

/// The plan of the layout. What is wrong here is wrong of every rank's words.
Expected<void> make_plan(const Benchmark& benchmark, const RunOptions& options,
                         const std::vector<std::uint64_t>& largest, Setup& setup) {
  // All must have run before anybody records: with more than this many in turn on a CPU, at some
  // milliseconds a turn, that takes longer than any user waits.
  constexpr double most_workers_per_cpu = 64;
  if (!options.serial && setup.layout.workers_per_cpu() > most_workers_per_cpu) {
    return fail_usage("--threads",
                      fmt::format("{:.0f} workers per CPU cannot run concurrently (at most {})",
                                  setup.layout.workers_per_cpu(), most_workers_per_cpu),
                      "ask for fewer", ", or for more --cpus");
  }
  const auto input = [&] {
    return PlanInput{options, setup.layout, setup.machines, setup.pages, largest};
  };
  setup.plan = TRY(benchmark.plan(input()));
  if (std::string why = why_base_of(setup.plan); options.pages.empty() && !why.empty()) {
    setup.pages = {PageKind::base};
    setup.why_base = std::move(why);
    setup.plan = TRY(benchmark.plan(input()));
  }
  TRY(check_plan(setup.plan, benchmark.name));
  for (const PlannedCase& planned : setup.plan) setup.skips.push_back(planned.skip);
  return {};
}

}  // namespace

void keep_only(Setup& setup, const std::function<bool(const PlannedCase&)>& stays) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    if (!stays(setup.plan[i])) continue;
    if (left != i) {
      setup.plan[left] = std::move(setup.plan[i]);
      setup.skips[left] = std::move(setup.skips[i]);
    }
    ++left;
  }
  setup.plan.resize(left);
  setup.skips.resize(left);
}

Error in_options(Error error, const PlannedCase& planned, const Benchmark& benchmark) {
  for (const char* part : {"size", "pages", "memory"})
    error = renamed(std::move(error), part, std::string("--") + part);
  error = renamed(std::move(error), "--size", size_option_of(planned, benchmark));
  if (!is_of_size(error) || !full_hint(error).empty()) return error;
  if (benchmark.reduced_to_hosts) {
    error.option_hint = benchmark.options.less_memory_hint;
  } else {
    error.hint = "ask for less";
    error.option_hint = ", or add --skip-too-large to measure the sizes that fit";
  }
  return error;
}

Expected<Setup> set_up(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                       const Machine* known, const Expected<void>& before) {
  const auto machine =
      before ? own_machine(benchmark, options, known) : Expected<Machine>(fail(before.error()));
  Setup setup;
  // Such a host needs nothing of the others, but for a few numbers.
  if (benchmark.reduced_to_hosts) setup.host = make_host_comm(comm);
  Comm& ranks = setup.host ? *setup.host : comm;
  const bool base = TRY(comm.any(machine && best_pages(*machine).kind == PageKind::base));
  TRY(agree(comm, error_of(meet_ranks(benchmark, options, ranks, machine, base, setup))));
  std::vector<std::uint64_t> largest;
  if (setup.host)
    largest =
        benchmark.reduced_to_hosts->numbers({options, setup.layout, setup.machines, setup.pages});
  for (std::uint64_t& number : largest) number = TRY(comm.largest(number));
  const auto made = make_plan(benchmark, options, largest, setup);
  TRY(check_all_plan_alike(comm, made.map([&] { return plan_words(setup, options, benchmark); })));
  TRY(agree(comm, error_of(find_skips(setup, options, ranks, benchmark))));
  keep_only(setup, [&](const PlannedCase& one) { return stays(one, options.kept); });
  add_warnings(setup);
  if (options.only_plans() && benchmark.is_of_memory) warn_of_caches(setup);
  setup.layout.of_this_host = setup.host != nullptr;
  return setup;
}

}  // namespace numatlas

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
#include "machine/source.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/check_plan.h"
#include "run/device_flows.h"
#include "run/levels.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

using nlohmann::json;

/// Why the flows of one host cannot run together there; nullopt when they can.
std::optional<Error> host_problem(const Setup& setup, const Scenario& scenario, int host) {
  std::vector<Region> regions;
  std::size_t workers = 0;
  for (const Flow& flow : scenario.flows) {
    const Worker& worker = setup.layout.workers[static_cast<std::size_t>(flow.worker)];
    if (worker.host != host || flow.shares) continue;
    ++workers;
    regions.push_back(flow.region);
    if (flow.source) regions.push_back(*flow.source);
  }
  if (regions.empty()) return std::nullopt;
  const auto is_thp = [](const Region& region) { return region.pages == PageKind::thp; };
  if (std::any_of(regions.begin(), regions.end(), is_thp)) {
    if (auto problem = page_kind_problem(PageKind::thp, setup.machine, {}, Bytes{})) return problem;
  }
  if (auto problem = error_of(check_fits(regions, setup.machine, workers))) return problem;
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

/// What a rank says of its plan: a figure that is the same of the same plan, and by scenario what
/// is wrong on its host, which its first rank looks at.
std::string plan_words(const Setup& setup, const RunOptions& options, const Comm& comm) {
  json words = comm.size() > 1 ? plan_json(setup)["cases"] : json::array();
  words.push_back({{"serial", options.serial},
                   {"time", options.stop.time.count()},
                   {"precision", options.precision}});
  json problems = json::object();
  const int host = comm.layout().host_of[static_cast<std::size_t>(comm.rank())];
  for (std::size_t i = 0; comm.local_rank() == 0 && i < setup.plan.size(); ++i) {
    if (setup.plan[i].skip) continue;
    if (const auto problem = host_problem(setup, setup.plan[i].scenario, host))
      problems[std::to_string(i)] = error_to_send(*problem);
  }
  return json::array({std::hash<std::string>{}(words.dump()), problems}).dump();
}

/// By --pages, or by words of a file.
bool has_several_kinds_of_pages(const Setup& setup) {
  std::set<PageKind> kinds(setup.pages.begin(), setup.pages.end());
  for (const PlannedCase& planned : setup.plan)
    for (const Flow& flow : planned.scenario.flows) kinds.insert(flow.region.pages);
  return kinds.size() > 1;
}

/// Every rank computed its plan from its own words: with others it would wait for what never comes,
/// or its figures would stand under rank 0's names. Every host looked at its own part of every
/// scenario; all hosts hear of all problems.
Expected<void> agree_on_plan(const Expected<void>& made, Setup& setup, const RunOptions& options,
                             Comm& comm, const Benchmark& benchmark) {
  const auto all =
      TRY(all_gather(comm, made.map([&] { return plan_words(setup, options, comm); })));
  std::vector<json> said;
  for (const std::string& words : all) said.push_back(json::parse(words));
  const bool several_kinds = has_several_kinds_of_pages(setup);
  std::optional<Error> first;
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    if (said[rank][0] != said[0][0])
      return fail({ErrorKind::usage, fmt::format("rank {} has different options from rank 0", rank),
                   "give all ranks the same options", "",
                   "; --memory each:... and --cpus LIST/LIST differ by rank in the same words"});
  }
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    const std::string& host =
        setup.layout.hosts[static_cast<std::size_t>(comm.layout().host_of[rank])];
    for (const auto& [index, sent] : said[rank][1].items()) {
      const std::size_t place = std::stoul(index);
      Error problem = in_options(error_received(sent), setup.plan[place], benchmark);
      if (setup.layout.hosts.size() > 1) problem.where = host;
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
void warn_of_local(Setup& setup, int host) {
  const Machine& machine = setup.machines[static_cast<std::size_t>(host)];
  NodeSet impossible;
  for (const Worker& worker : setup.layout.workers) {
    const WorkerPlacement& place = worker.placement;
    const bool known = place.cpu_node.value >= 0;
    if (worker.host != host || place.memory.mode != MemoryMode::local || !known) continue;
    if (!machine.usable_memory_nodes().contains(place.cpu_node)) impossible.insert(place.cpu_node);
  }
  for (NodeId id : impossible) {
    const NumaNode* node = machine.find_node(id);
    const bool has_memory = node != nullptr && node->may_have_memory();
    const std::string where =
        setup.machines.size() > 1 ? setup.layout.hosts[static_cast<std::size_t>(host)] : "";
    setup.warnings.push_back(
        {"memory-not-local", where,
         fmt::format(
             "memory local: node {} {}; its workers use the nearest node with memory", id.value,
             has_memory
                 ? fmt::format("is not among the memory nodes that this process may use ({})",
                               to_list(machine.usable_memory_nodes()))
                 : "has no memory")});
  }
}

/// Whether two workers of a host may run on two hardware threads of one core.
bool workers_share_a_core(const Setup& setup, int host) {
  const Machine& machine = setup.machines[static_cast<std::size_t>(host)];
  std::map<int, int> workers_by_core;
  for (const Worker& worker : setup.layout.workers) {
    if (worker.host != host) continue;
    std::set<int> cores;
    for (CpuId cpu : worker.placement.cpus) {
      const Cpu* found = machine.find_cpu(cpu);
      if (found != nullptr) cores.insert(found->core);
    }
    for (int core : cores) {
      if (++workers_by_core[core] > 1) return true;
    }
  }
  return false;
}

/// "cn1, cn2, cn3 and 40 more hosts"; "" for all of them.
std::string host_names(const std::vector<std::string>& names, std::size_t all) {
  // A list of all would bury what is warned of.
  constexpr std::size_t most_named = 3;
  if (names.size() == all) return "";
  const std::size_t named = std::min(names.size(), most_named);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more hosts", names.size() - named);
  return text;
}

/// Settings that disturb, each once with the hosts that have it.
void warn_of_settings(Setup& setup) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> hosts;
  for (std::size_t host = 0; host < setup.machines.size(); ++host) {
    for (const Setting& setting : setup.machines[host].settings) {
      if (setting.warning.empty()) continue;
      if (setting.name == "smt" && !workers_share_a_core(setup, static_cast<int>(host))) continue;
      const std::string text =
          fmt::format("{} = {}: {}", setting.name, setting.value, setting.warning);
      if (hosts[text].empty()) order.push_back(text);
      hosts[text].push_back(setup.layout.hosts[host]);
    }
  }
  for (const std::string& text : order) {
    setup.warnings.push_back({"setting", host_names(hosts[text], setup.machines.size()), text});
  }
}

/// Of the first host where it is so: the others are usually the same.
void warn_of_quota(Setup& setup) {
  for (std::size_t host = 0; host < setup.machines.size(); ++host) {
    const Allowance& allowance = setup.machines[host].allowance;
    const auto workers =
        std::count_if(setup.layout.workers.begin(), setup.layout.workers.end(),
                      [&](const Worker& worker) { return worker.host == static_cast<int>(host); });
    if (!allowance.cpu_quota || static_cast<double>(workers) <= *allowance.cpu_quota) continue;
    setup.warnings.push_back(
        {"oversubscribed", "",
         fmt::format("{} on a CPU quota of {:.4g} CPUs ({}): they are stopped in turn; use fewer "
                     "(--threads), or raise the quota",
                     count_text(static_cast<int>(workers), "worker"), *allowance.cpu_quota,
                     allowance.cpu_quota_source)});
    return;
  }
}

void add_warnings(Setup& setup) {
  for (std::size_t host = 0; host < setup.machines.size(); ++host) {
    warn_of_local(setup, static_cast<int>(host));
  }
  if (setup.layout.workers_per_cpu() > 1) {
    setup.warnings.push_back({"oversubscribed", "",
                              "more workers than CPUs: samples include time spent waiting for a "
                              "CPU, and workers run in turns"});
  }
  warn_of_quota(setup);
  warn_of_settings(setup);
}

/// Of figures that are meant to be those of memory: what runs tells of each case is told of a plan
/// in a line for each cache.
void warn_of_caches(Setup& setup) {
  std::map<std::string, std::vector<std::string>> scenarios;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const Scenario& scenario = setup.plan[i].scenario;
    if (setup.skips[i]) continue;
    std::set<std::string> levels;
    for (const Flow& flow : scenario.flows) {
      const auto host = static_cast<std::size_t>(
          setup.layout.workers[static_cast<std::size_t>(flow.worker)].host);
      if (!on_gpu(flow.kernel))
        levels.insert(level_of_flow(setup.machines[host], setup.layout, scenario, flow));
    }
    for (const std::string& level : levels) {
      if (level != "memory" && level != "-") scenarios[level].push_back(scenario.name);
    }
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

bool has_only_base(const Machine& machine) { return best_pages(machine).kind == PageKind::base; }

/// Tells the others of this rank's machine, and fills in the machines of all hosts and the pages
/// that all of them give. `base`: one that is not among them gives base pages only. Returns the
/// task's place among the others.
Expected<TaskContext> exchange_machines(const Expected<Machine>& mine, const RunOptions& options,
                                        Comm& comm, bool base, Setup& setup) {
  const auto words_of = [&](const Machine& machine) {
    return json::array({to_list(machine.usable_cpus()), has_only_base(machine),
                        comm.local_rank() == 0 ? to_json(machine) : json()})
        .dump();
  };
  const auto all = TRY(all_gather(comm, mine.map(words_of)));
  setup.machine = *mine;
  setup.machines.resize(comm.layout().hosts.size());
  std::vector<std::string> cpus;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const json words = json::parse(all[rank]);
    cpus.push_back(words[0]);
    base = base || words[1].get<bool>();
    if (words[2].is_null()) continue;
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    setup.machines[host] = TRY(machine_from_json(words[2]));
  }
  const BestPages best = best_pages(setup.machine);
  setup.pages = options.pages;
  if (setup.pages.empty()) {
    setup.pages = {base ? PageKind::base : best.kind};
    if (base) setup.why_base = best.why_base.empty() ? "another host has no other" : best.why_base;
  }
  return task_context(comm, cpus);
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

/// The plan of the layout. All that is wrong here is wrong of every rank's words.
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
  if (benchmark.reduced_to_hosts) setup.by_hosts = benchmark.reduced_to_hosts->plan(input());
  return {};
}

/// As set_up, for the ranks of `comm`, as if there were no others but for `base` pages, which
/// others have. What a rank finds wrong goes with what it tells the others next, and is then
/// everyone's.
Expected<Setup> set_up_ranks(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                             const Expected<Machine>& machine, bool base,
                             const std::vector<std::uint64_t>& largest) {
  Setup setup;
  const auto task = TRY(exchange_machines(machine, options, comm, base, setup));
  setup.layout = TRY(gather_layout(comm, benchmark.workers(options, setup.machine, task)));
  if (!options.machine.empty()) name_recorded_hosts(setup.layout, setup.machine);
  const auto made = make_plan(benchmark, options, largest, setup);
  for (const PlannedCase& planned : setup.plan) setup.skips.push_back(planned.skip);
  TRY(agree_on_plan(made, setup, options, comm, benchmark));
  keep_only(setup, [&](const PlannedCase& one) { return stays(one, options.kept); });
  add_warnings(setup);
  if (options.only_plans() && benchmark.is_of_memory) warn_of_caches(setup);
  return setup;
}

/// Ranks with unlike words would wait for each other for ever: the first that differs is named. A
/// rank without words has an error.
Expected<void> check_all_say(Comm& comm, const Expected<std::string>& mine) {
  const auto unlike = TRY(first_unlike(comm, mine));
  if (!unlike) return {};
  return fail(ErrorKind::usage, fmt::format("rank {} has different options from rank 0", *unlike),
              "give all ranks the same options");
}

/// Each host by itself: it knows nothing of the others' CPUs and needs nothing of them, but for a
/// few numbers.
Expected<Setup> set_up_hosts(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                             const Expected<Machine>& machine) {
  const ReducedToHosts& hosts = *benchmark.reduced_to_hosts;
  const json words = {hosts.same_on_all(), options.dry_run, options.null_engine};
  TRY(check_all_say(comm, machine.map([&](const Machine&) { return words.dump(); })));
  const bool base = TRY(comm.any(has_only_base(*machine)));
  const std::shared_ptr<Comm> host = make_host_comm(comm);
  const auto on_this_host = [&](const std::vector<std::uint64_t>& largest) {
    return set_up_ranks(benchmark, options, *host, machine, base, largest);
  };
  auto setup = on_this_host({});
  TRY(agree(comm, error_of(setup)));
  const auto mine = hosts.numbers({options, setup->layout, setup->machines, setup->pages});
  auto largest = mine;
  for (std::uint64_t& number : largest) number = TRY(comm.largest(number));
  if (TRY(comm.any(largest != mine))) setup = on_this_host(largest);
  // Every host made its plan of its own words; its ranks compared theirs already.
  const auto names = setup.map([](const Setup& made) {
    json all = json::array();
    for (const PlannedCase& planned : made.plan) all.push_back(planned.scenario.name);
    return all.dump();
  });
  TRY(check_all_say(comm, names));
  setup->layout.of_this_host = true;
  setup->host = host;
  return setup;
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
  return benchmark.reduced_to_hosts ? set_up_hosts(benchmark, options, comm, machine)
                                    : set_up_ranks(benchmark, options, comm, machine, false, {});
}

}  // namespace numatlas

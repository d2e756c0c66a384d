#include "advise/candidates.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compare/places.h"
#include "load/held_load.h"

namespace numatlas {
namespace {

/// Where a CPU is, coarse to fine.
struct Place {
  std::optional<int> package;
  int node = -1;
  int cache = -1;  ///< first CPU of its last-level cache
  std::optional<int> core;
  int thread = 0;
  CpuId cpu;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place place_of(const Machine& machine, CpuId id) {
  Place place;
  place.cpu = id;
  place.core = id.value;
  const Cache* cache = machine.last_level_cache_of(id);
  if (cache != nullptr && !cache->cpus.empty()) place.cache = cache->cpus.front().value;
  const Cpu* cpu = machine.find_cpu(id);
  if (cpu == nullptr) return place;
  place.package = cpu->package;
  place.node = cpu->node.value;
  place.core = cpu->core;
  place.thread = cpu->smt_index;
  return place;
}

/// Of the usable CPUs, neighbours first.
std::vector<Place> places_of(const Machine& machine) {
  std::vector<Place> places;
  for (const CpuId cpu : machine.usable_cpus()) places.push_back(place_of(machine, cpu));
  std::sort(places.begin(), places.end());
  return places;
}

Candidate on_cpus(std::string name, CpuSet cpus, std::string because) {
  Candidate one;
  one.axis = Aspect::cpus;
  one.name = std::move(name);
  one.layout.cpus = std::move(cpus);
  one.prospect = Prospect::cpus;
  one.because = std::move(because);
  return one;
}

void add_near_gpus(const ProposalInput& input, std::vector<Candidate>& all) {
  std::set<NodeId> seen;
  for (const Gpu& gpu : input.machine.gpus) {
    if (!input.program.gpu || !gpu.node || !seen.insert(*gpu.node).second) continue;
    const NumaNode* node = input.machine.find_node(*gpu.node);
    if (node == nullptr || seen.size() > 2) continue;
    const CpuSet cpus = node->cpus & input.machine.usable_cpus();
    if (cpus.empty() || cpus == input.machine.usable_cpus()) continue;
    all.push_back(on_cpus(fmt::format("near GPU {}", gpu.pci_address), cpus,
                          fmt::format("the GPU is at node {}", node->id.value)));
    all.back().prospect = Prospect::best_node;
  }
}

}  // namespace

const Fact* Atlas::find(const std::string& key,
                        const std::vector<std::pair<std::string, std::string>>& where) const {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) {
    return fact.key == key && std::all_of(where.begin(), where.end(), [&](const auto& label) {
             return where_of(fact, label.first) == label.second;
           });
  });
  return found == facts.end() ? nullptr : &*found;
}

std::optional<double> Atlas::value(
    const std::string& key, const std::vector<std::pair<std::string, std::string>>& where) const {
  const Fact* fact = find(key, where);
  return fact == nullptr ? std::nullopt : std::optional(fact->estimate.value);
}

Expected<Atlas> read_atlas(const std::string& path) {
  const auto stored = TRY(read_atlas_file(path));
  Atlas atlas;
  for (const Rows& run : stored.runs) {
    if (atlas.host.empty() && !run.hosts.empty()) atlas.host = run.hosts.front();
    atlas.facts.insert(atlas.facts.end(), run.facts.begin(), run.facts.end());
  }
  return atlas;
}

std::string claim_text(const NumaNode& node) {
  if (!node.hmat) return "";
  std::string text;
  if (node.hmat->read_latency) text = fmt::format("{:.0f} ns", *node.hmat->read_latency * 1e9);
  if (node.hmat->read_bandwidth)
    text +=
        fmt::format("{}{:.1f} GB/s", text.empty() ? "" : ", ", *node.hmat->read_bandwidth * 1e-9);
  if (text.empty()) return "";
  return fmt::format("memory of node {}: {} (firmware)", node.id.value, text);
}

std::string memory_text(const Atlas* atlas, const Machine& machine, NodeId cpu_node,
                        NodeId memory_node) {
  std::string text;
  if (atlas != nullptr) {
    const std::vector<std::pair<std::string, std::string>> where{
        {"cpu_node", std::to_string(cpu_node.value)},
        {"memory_node", std::to_string(memory_node.value)}};
    if (const auto latency = atlas->value("matrix_latency", where))
      text = fmt::format("{:.0f} ns", *latency * 1e9);
    if (const auto rate = atlas->value("matrix_bandwidth", where))
      text += fmt::format("{}{:.1f} GB/s", text.empty() ? "" : ", ", *rate * 1e-9);
    if (!text.empty())
      return fmt::format("memory of node {} from node {}: {}", memory_node.value, cpu_node.value,
                         text);
  }
  const NumaNode* node = machine.find_node(memory_node);
  return node == nullptr ? "" : claim_text(*node);
}

const char* name_of(Aspect axis) {
  switch (axis) {
    case Aspect::none: return "none";
    case Aspect::memory: return "memory";
    case Aspect::weights: return "weights";
    case Aspect::pages: return "pages";
    case Aspect::cpus: return "cpus";
    case Aspect::threads: return "threads";
    case Aspect::load: return "load";
  }
  return "";
}

Candidate no_candidate(std::string name, Aspect axis, std::string reason) {
  Candidate one;
  one.name = std::move(name);
  one.axis = axis;
  one.not_tried = std::move(reason);
  return one;
}

std::vector<Candidate> propose(const ProposalInput& input) {
  const auto wants = [&](Aspect axis) { return input.axes.contains(axis); };
  std::vector<Candidate> all;
  all.push_back({"as it is", Aspect::none, {}, "baseline for the other candidates", ""});
  const auto add = [&](std::vector<Candidate> some) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  };
  if (wants(Aspect::memory)) add(propose_memory(input));
  if (wants(Aspect::weights)) add(propose_weights(input));
  if (wants(Aspect::pages)) add(propose_pages(input));
  if (wants(Aspect::cpus)) add(propose_cpus(input));
  if (wants(Aspect::threads)) add(propose_threads(input));
  const auto last = std::stable_partition(
      all.begin(), all.end(), [](const Candidate& one) { return one.not_tried.empty(); });
  std::stable_sort(all.begin(), last,
                   [](const Candidate& a, const Candidate& b) { return a.prospect < b.prospect; });
  return all;
}

std::vector<CpuId> packed_order(const Machine& machine) {
  std::vector<CpuId> order;
  for (const Place& place : places_of(machine)) order.push_back(place.cpu);
  return order;
}

std::vector<CpuId> spread_order(const Machine& machine) {
  // By the number among the threads of the core, then among the cores of the cache: so caches take
  // turns, and second threads come last.
  std::map<std::optional<int>, int> of_core;
  std::map<std::tuple<std::optional<int>, int, int, int>, int> of_cache;
  std::vector<std::tuple<int, int, Place>> keyed;
  for (const Place& place : places_of(machine)) {
    const int thread = of_core[place.core]++;
    const int core = of_cache[{place.package, place.node, place.cache, thread}]++;
    keyed.emplace_back(thread, core, place);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<CpuId> order;
  for (const auto& [thread, core, place] : keyed) order.push_back(place.cpu);
  return order;
}

CpuSet first_cpus(const std::vector<CpuId>& order, std::size_t count) {
  CpuSet cpus;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) cpus.insert(order[i]);
  return cpus;
}

std::vector<Candidate> propose_cpus(const ProposalInput& input) {
  std::vector<Candidate> all;
  const CpuSet usable = input.machine.usable_cpus();
  if (usable.size() < 2) return {no_candidate("cpus", Aspect::cpus, "only one CPU is allowed")};
  const auto threads = static_cast<std::size_t>(input.program.threads.value_or(1));
  const CpuSet cores = one_cpu_per_core(input.machine, input.machine.usable_cpus());
  if (threads == 1) {
    all.push_back(on_cpus("pinned", first_cpus(packed_order(input.machine), 1),
                          "it stays on one CPU, with its caches"));
  } else if (threads < usable.size()) {
    const CpuSet packed = first_cpus(packed_order(input.machine), threads);
    const CpuSet spread = first_cpus(spread_order(input.machine), threads);
    all.push_back(on_cpus("packed", packed, "its threads share caches"));
    if (spread != packed)
      all.push_back(on_cpus("spread", spread, "a core and the most cache for each thread"));
  }
  if (threads > 1 && cores.size() < usable.size() && cores.size() != threads)
    all.push_back(
        on_cpus("one per core", cores, "no two threads share a core while others are idle"));
  add_near_gpus(input, all);
  if (all.empty())
    return {no_candidate("cpus", Aspect::cpus, "it has a thread for every allowed CPU")};
  return all;
}

std::vector<Candidate> propose_threads(const ProposalInput& input) {
  if (!input.program.openmp)
    return {no_candidate("threads", Aspect::threads,
                         "not an OpenMP program: how to set its number of threads is unknown")};
  const auto with = [](std::string name, std::vector<std::pair<std::string, std::string>> variables,
                       std::string because) {
    Candidate one;
    one.axis = Aspect::threads;
    one.name = std::move(name);
    one.layout.environment = std::move(variables);
    one.prospect = Prospect::threads;
    one.because = std::move(because);
    return one;
  };
  std::vector<Candidate> all;
  const std::size_t cpus = input.machine.usable_cpus().size();
  const std::size_t cores = one_cpu_per_core(input.machine, input.machine.usable_cpus()).size();
  const auto now = static_cast<std::size_t>(input.program.threads.value_or(1));
  for (const char* bind : {"close", "spread"}) {
    if (cpus < 2) break;
    all.push_back(with(fmt::format("OMP_PROC_BIND={}", bind),
                       {{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", bind}},
                       "its threads stay where their memory is"));
  }
  for (const std::size_t count : {cores, (cores + 1) / 2, cpus}) {
    const std::string number = std::to_string(count);
    const auto has_it = [&](const Candidate& one) {
      return one.name == "OMP_NUM_THREADS=" + number;
    };
    if (count == now || std::any_of(all.begin(), all.end(), has_it)) continue;
    std::string because = "fewer threads may saturate memory; more may hide its latency";
    if (count == cores) because = "a thread for each core";
    all.push_back(with("OMP_NUM_THREADS=" + number, {{"OMP_NUM_THREADS", number}}, because));
  }
  if (all.empty())
    return {
        no_candidate("threads", Aspect::threads, "only one CPU is allowed, and it has one thread")};
  return all;
}

}  // namespace numatlas

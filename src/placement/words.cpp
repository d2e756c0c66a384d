#include "placement/words.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace numatlas {
namespace {

using Kind = PlacementWord::Kind;
using Nodes = std::vector<const NumaNode*>;

constexpr const char* how_to_measure = "name a survey of this machine with --atlas survey.json";

std::string gb_text(double rate) { return fmt::format("{:.3g} GB/s", rate * 1e-9); }

/// Memory of a GPU is for those who name its node.
bool is_ordinary(const NumaNode& node) { return node.kind != "gpu"; }

Nodes memory_nodes(const Machine& machine) {
  Nodes nodes;
  const NodeSet usable = machine.usable_memory_nodes();
  for (const NumaNode& node : machine.nodes) {
    if (usable.contains(node.id) && is_ordinary(node)) nodes.push_back(&node);
  }
  return nodes;
}

Nodes cpu_nodes(const Machine& machine) {
  Nodes nodes;
  const CpuSet usable = machine.usable_cpus();
  for (const NumaNode& node : machine.nodes) {
    if (!(node.cpus & usable).empty()) nodes.push_back(&node);
  }
  return nodes;
}

int distance(const NumaNode& from, NodeId to) {
  if (from.id == to) return 0;  // below all others, whatever the firmware says
  const auto found = from.distance.find(to.value);
  return found == from.distance.end() ? INT_MAX : found->second;
}

/// From the nearest of some nodes; 0 where there are none.
int distance(const Machine& machine, const NodeSet& from, NodeId to) {
  int least = from.empty() ? 0 : INT_MAX;
  for (const NodeId id : from) {
    if (const NumaNode* node = machine.find_node(id)) least = std::min(least, distance(*node, to));
  }
  return least;
}

tl::unexpected<Error> unknown(const PlacementWord& word, const std::string& why,
                              const char* hint = how_to_measure) {
  return fail_about(ErrorKind::unavailable, word.text(), why, hint);
}

Expected<const Gpu*> find_gpu(const PlacementWord& word, const Machine& machine) {
  const auto gpus = numbered_gpus(machine);
  if (const auto found = gpus.find(word.gpu); found != gpus.end()) return found->second;
  std::vector<int> numbers;
  for (const auto& [number, gpu] : gpus) numbers.push_back(number);
  return unknown(word,
                 numbers.empty() ? no_gpu(machine)
                                 : fmt::format("this machine has no GPU {}; its GPUs are {}",
                                               word.gpu, fmt::join(numbers, ", ")),
                 "`numatlas topology` lists nodes and GPUs");
}

/// The candidate with the highest rate. Rates whose intervals meet are alike: of these the first by
/// `order`, which is lower for better ones.
template <class Order>
const NumaNode* best_by_rate(const Nodes& nodes,
                             const std::function<const MeasuredPlaces::Rate*(NodeId)>& rate_of,
                             const Order& order) {
  const MeasuredPlaces::Rate* most = nullptr;
  for (const NumaNode* node : nodes) {
    const auto* rate = rate_of(node->id);
    if (rate != nullptr && (most == nullptr || rate->value > most->value)) most = rate;
  }
  const NumaNode* best = nullptr;
  for (const NumaNode* node : nodes) {
    const auto* rate = rate_of(node->id);
    if (rate == nullptr || rate->high < most->low) continue;
    if (best == nullptr || order(*node) < order(*best)) best = node;
  }
  return best;
}

/// "; nodes 1, 2 are not clearly different": those of which nodes the intervals meet that of
/// `best`.
std::string alike_text(const Nodes& nodes, const NumaNode& best,
                       const std::function<const MeasuredPlaces::Rate*(NodeId)>& rate_of) {
  const auto* mine = rate_of(best.id);
  NodeSet alike;
  for (const NumaNode* node : nodes) {
    const auto* rate = rate_of(node->id);
    if (node != &best && rate != nullptr && rate->high >= mine->low && rate->low <= mine->high)
      alike.insert(node->id);
  }
  if (alike.empty()) return "";
  return fmt::format("; node{} {} {} not clearly different", alike.size() == 1 ? "" : "s",
                     to_list(alike), alike.size() == 1 ? "is" : "are");
}

Expected<ChosenNode> near_gpu(const PlacementWord& word, const Machine& machine,
                              const MeasuredPlaces* measured, const Nodes& usable) {
  const auto gpu = find_gpu(word, machine);
  if (!gpu) return fail(gpu.error());
  const std::optional<NodeId> own = (*gpu)->node;
  const auto by_distance = [&](const NumaNode& node) {
    const NumaNode* const home = own ? machine.find_node(*own) : nullptr;
    return std::tuple(home == nullptr ? 0 : distance(*home, node.id), node.id);
  };
  const bool own_only = word.kind == Kind::gpu;
  Nodes all;
  for (const NumaNode& node : machine.nodes) {
    if (is_ordinary(node)) all.push_back(&node);
  }
  const Nodes& candidates = own_only ? all : usable;
  if (measured != nullptr) {
    const auto rates = measured->gpu_rate.find(word.gpu);
    const auto rate_of = [&](NodeId id) -> const MeasuredPlaces::Rate* {
      if (rates == measured->gpu_rate.end()) return nullptr;
      const auto found = rates->second.find(id);
      return found == rates->second.end() ? nullptr : &found->second;
    };
    if (const NumaNode* best = best_by_rate(candidates, rate_of, by_distance))
      return ChosenNode{best->id, fmt::format("copies of GPU {} measured at {} there{}", word.gpu,
                                              gb_text(rate_of(best->id)->value),
                                              alike_text(candidates, *best, rate_of))};
  }
  const char* const no_copies = measured != nullptr ? "; the atlas has no copies of this GPU" : "";
  if (usable.size() == 1 && machine.nodes.size() == 1)
    return ChosenNode{usable.front()->id, "the only node"};
  if (!own)
    return unknown(word,
                   fmt::format("the system does not say which node this GPU is near{}", no_copies));
  if (own_only)
    return ChosenNode{
        *own, fmt::format("the system names it as the node of GPU {}{}", word.gpu, no_copies)};
  const auto best = std::min_element(usable.begin(), usable.end(), [&](auto* a, auto* b) {
    return by_distance(*a) < by_distance(*b);
  });
  if (best == usable.end()) return unknown(word, "this process may use no node", "");
  const bool is_own = (*best)->id == *own;
  return ChosenNode{
      (*best)->id,
      is_own ? fmt::format("the system names it as the node of GPU {}{}", word.gpu, no_copies)
             : fmt::format("by distance the nearest usable node to node {} of GPU {}{}", own->value,
                           word.gpu, no_copies)};
}

/// Nodes of the CPUs, or all that may be used.
NodeSet users_of(const Machine& machine, const CpuSet& cpus) {
  return machine.nodes_of(cpus.empty() ? machine.usable_cpus() : cpus);
}

std::optional<double> least_latency(const MeasuredPlaces& measured, const NodeSet& from,
                                    NodeId memory) {
  std::optional<double> least;
  for (const NodeId node : from) {
    const auto found = measured.latency.find({node, memory});
    if (found != measured.latency.end() && (!least || found->second < *least))
      least = found->second;
  }
  return least;
}

Expected<ChosenNode> fastest_measured(const PlacementWord& word, const Machine& machine,
                                      const MeasuredPlaces& measured, const NodeSet& from,
                                      const Nodes& candidates) {
  const auto rate_of = [&](NodeId memory) {
    const MeasuredPlaces::Rate* most = nullptr;
    for (const NodeId node : from) {
      const auto found = measured.bandwidth.find({node, memory});
      if (found != measured.bandwidth.end() &&
          (most == nullptr || found->second.value > most->value))
        most = &found->second;
    }
    return most;
  };
  const auto order = [&](const NumaNode& node) {
    return std::tuple(distance(machine, from, node.id),
                      least_latency(measured, from, node.id).value_or(1), node.id);
  };
  const NumaNode* best = best_by_rate(candidates, rate_of, order);
  if (best == nullptr)
    return unknown(word,
                   fmt::format("{} has no bandwidth from CPUs of node{} {} to a usable node",
                               measured.file, from.size() == 1 ? "" : "s", to_list(from)),
                   "measure it: numatlas matrix --json FILE");
  return ChosenNode{best->id,
                    fmt::format("{} measured from CPUs of node{} {}{}",
                                gb_text(rate_of(best->id)->value), from.size() == 1 ? "" : "s",
                                to_list(from), alike_text(candidates, *best, rate_of))};
}

/// What kinds of memory say of their bandwidth: HBM has more than DRAM, all others less.
int rank_of_kind(const NumaNode& node) {
  return node.kind == "hbm" ? 0 : node.kind == "dram" ? 1 : 2;
}

Expected<ChosenNode> fastest_claimed(const PlacementWord& word, const Machine& machine,
                                     const NodeSet& from, const Nodes& candidates) {
  if (candidates.size() == 1) return ChosenNode{candidates.front()->id, "the only usable node"};
  const auto all = [&](const auto& is) {
    return !candidates.empty() && std::all_of(candidates.begin(), candidates.end(), is);
  };
  const auto best_by = [&](const auto& key) {
    return *std::min_element(candidates.begin(), candidates.end(), [&](auto* a, auto* b) {
      const auto order = [&](const NumaNode& node) {
        return std::tuple(key(node), distance(machine, from, node.id), node.id);
      };
      return order(*a) < order(*b);
    });
  };
  if (all([](const NumaNode* node) { return node->hmat && node->hmat->read_bandwidth; })) {
    const NumaNode* best =
        best_by([](const NumaNode& node) { return -*node.hmat->read_bandwidth; });
    const std::string rate = gb_text(*best->hmat->read_bandwidth);
    return ChosenNode{best->id,
                      best->hmat->measured
                          ? fmt::format("measured at {} by `numatlas export`'s topology", rate)
                          : fmt::format("the firmware claims {} for it, not measured", rate)};
  }
  if (all([](const NumaNode* node) { return node->memory_tier.has_value(); })) {
    const NumaNode* best = best_by([](const NumaNode& node) { return *node.memory_tier; });
    return ChosenNode{best->id, fmt::format("in memory tier {}, the fastest by what the kernel "
                                            "says, not measured",
                                            *best->memory_tier)};
  }
  if (all([](const NumaNode* node) { return !node->kind.empty(); })) {
    const NumaNode* best = best_by(rank_of_kind);
    return ChosenNode{best->id,
                      fmt::format("the nearest {} by distance, not measured", best->kind)};
  }
  return unknown(word, "neither the firmware nor the kernel says which node is faster");
}

Expected<ChosenNode> cpus_with_fastest(const PlacementWord& word, const Machine& machine,
                                       const MeasuredPlaces* measured, const Nodes& candidates) {
  const auto memory = TRY(choose_memory(word, machine, measured, {}));
  const NumaNode* const target = machine.find_node(memory.node);
  const auto near = std::min_element(candidates.begin(), candidates.end(), [&](auto* a, auto* b) {
    return std::tuple(distance(*target, a->id), a->id) <
           std::tuple(distance(*target, b->id), b->id);
  });
  return ChosenNode{(*near)->id,
                    fmt::format("nearest to memory of node {}: {}", target->id.value, memory.why)};
}

/// Why the figures may not be this machine's; "" where nothing says so.
std::string another_machine(const MeasuredPlaces& measured, const Machine& machine) {
  const std::string &then = measured.cpu_model, &now = machine.cpu_model;
  if (!then.empty() && !now.empty() && then != now)
    return fmt::format("--atlas {} is of another machine: '{}', and this one has '{}'",
                       measured.file, then, now);
  NodeSet nodes;
  for (const NumaNode& node : machine.nodes)
    if (node.may_have_memory()) nodes.insert(node.id);
  if (measured.nodes.empty() || nodes.empty() || measured.nodes == nodes) return "";
  return fmt::format(
      "--atlas {} is of another machine, or of this one as it was: memory on nodes {}, now {}",
      measured.file, to_list(measured.nodes), to_list(nodes));
}

}  // namespace

std::string PlacementWord::text() const {
  switch (kind) {
    case Kind::gpu: return fmt::format("gpu:{}", gpu);
    case Kind::nearest_gpu: return fmt::format("nearest:gpu:{}", gpu);
    case Kind::fastest: break;
  }
  return "fastest";
}

std::string no_gpu(const Machine& machine) {
  const auto why = machine.unread.find("gpus");
  return why == machine.unread.end() ? "this machine has no GPU"
                                     : "the GPUs of this machine are not known: " + why->second;
}

std::map<int, const Gpu*> numbered_gpus(const Machine& machine) {
  std::map<int, const Gpu*> gpus;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.index) gpus.emplace(*gpu.index, &gpu);
  }
  if (!gpus.empty()) return gpus;
  int number = 0;
  for (const Gpu& gpu : machine.gpus) gpus.emplace(number++, &gpu);
  return gpus;
}

Expected<std::optional<PlacementWord>> parse_placement_word(std::string_view text) {
  const std::string_view whole = trim(text);
  if (whole == "fastest") return PlacementWord{Kind::fastest};
  std::string_view rest = whole;
  constexpr std::string_view nearest = "nearest:", gpu = "gpu:";
  const bool is_nearest = rest.starts_with(nearest);
  if (is_nearest) rest.remove_prefix(nearest.size());
  if (!rest.starts_with(gpu)) {
    if (!is_nearest && whole != "nearest" && whole != "gpu") return std::nullopt;
    return fail(ErrorKind::usage, fmt::format("'{}' does not name a GPU", whole),
                "write nearest:gpu:0 or gpu:0");
  }
  const auto number = parse_ordered_list(rest.substr(gpu.size()));
  if (!number || number->size() != 1)
    return fail(ErrorKind::usage, fmt::format("'{}' does not name one GPU", whole),
                fmt::format("write {}gpu:0", is_nearest ? nearest : ""));
  return PlacementWord{is_nearest ? Kind::nearest_gpu : Kind::gpu, number->front()};
}

Expected<ChosenNode> choose_memory(const PlacementWord& word, const Machine& machine,
                                   const MeasuredPlaces* measured, const CpuSet& cpus) {
  const Nodes candidates = memory_nodes(machine);
  if (word.has_gpu()) return near_gpu(word, machine, measured, candidates);
  if (candidates.empty()) return unknown(word, "this process may use no node's memory", "");
  const NodeSet from = users_of(machine, cpus);
  return measured != nullptr ? fastest_measured(word, machine, *measured, from, candidates)
                             : fastest_claimed(word, machine, from, candidates);
}

Expected<ChosenNode> choose_cpus(const PlacementWord& word, const Machine& machine,
                                 const MeasuredPlaces* measured) {
  const Nodes candidates = cpu_nodes(machine);
  if (candidates.empty()) return unknown(word, "this process may use no CPU", "");
  return word.has_gpu() ? near_gpu(word, machine, measured, candidates)
                        : cpus_with_fastest(word, machine, measured, candidates);
}

Expected<void> put_in_place(const WordSpec& words, const Machine& machine,
                            const MeasuredPlaces* measured, PlacementSpec& spec,
                            std::vector<std::string>& notes) {
  CpuSet cpus;
  if (measured != nullptr && words.any()) {
    if (const std::string other = another_machine(*measured, machine); !other.empty())
      notes.push_back(other);
  }
  if (words.cpus) {
    const auto chosen = TRY(of_option("--cpus", choose_cpus(*words.cpus, machine, measured)));
    spec.cpus = {CpuSpec::Form::nodes, {{chosen.node.value}}, false};
    notes.push_back(
        fmt::format("--cpus {} is node:{}: {}", words.cpus->text(), chosen.node.value, chosen.why));
    if (const NumaNode* node = machine.find_node(chosen.node)) cpus = node->cpus;
  }
  if (!words.memory) return {};
  if (cpus.empty()) {
    // Not looked at here: where the list is wrong, that is told when the workers are placed.
    const auto named = resolve_cpus(spec.cpus, machine, TaskContext{});
    if (named) {
      for (const CpuId cpu : *named) cpus.insert(cpu);
    }
  }
  const auto chosen =
      TRY(of_option("--memory", choose_memory(*words.memory, machine, measured, cpus)));
  spec.memory = MemorySpec{};
  spec.memory->single = {MemoryMode::bind, {{chosen.node, 1}}};
  notes.push_back(fmt::format("--memory {} is bind:{}: {}", words.memory->text(), chosen.node.value,
                              chosen.why));
  return {};
}

}  // namespace numatlas

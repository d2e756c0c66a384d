#include "advise/candidates.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "compare/places.h"

namespace numatlas {

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

}  // namespace numatlas

#include "record/labels.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/units.h"
#include "kernels/traits.h"
#include "machine/pci_link.h"

namespace numatlas {
namespace {

std::string text_or_none(const std::string& text) { return text.empty() ? unknown_text : text; }
std::string node_text(NodeId node) {
  return node.value < 0 ? unknown_text : std::to_string(node.value);
}

/// nullptr where none is known.
const NumaNode* node_named(const Machine* machine, const std::string& name) {
  if (machine == nullptr) return nullptr;
  const auto found = std::ranges::find(
      machine->nodes, name, [](const NumaNode& node) { return std::to_string(node.id.value); });
  return found == machine->nodes.end() ? nullptr : &*found;
}

const WorkerRow& worker_of(const RunReport& report, const FlowResult& flow) {
  return report.workers[static_cast<std::size_t>(flow.worker)];
}

std::string arrow_text(const NodeSet& from, const NodeSet& to) {
  return text_or_none(to_list(from)) + " -> " + text_or_none(to_list(to));
}

/// "0,1 -> 2": nodes of the workers' CPUs and of their memory as observed.
std::string nodes_text(const RunReport& report, std::span<const FlowResult> flows) {
  NodeSet cpus, memory;
  std::vector<std::string> gpus, places;
  for (const FlowResult& flow : flows) {
    const NodeId node = worker_of(report, flow).cpu_node;
    if (node.value >= 0) cpus.insert(node);
    memory = memory | nodes_of(observed_memory(flow));
    // A kernel of a GPU works on memory; copies are between two.
    if (flow.gpu && flow.gpu->direction.empty()) {
      add_once(gpus, fmt::format("gpu:{}", flow.gpu->gpu));
      add_once(places, flow.memory.starts_with("gpu:")
                           ? flow.memory
                           : text_or_none(to_list(nodes_of(observed_memory(flow)))));
    }
  }
  if (!gpus.empty()) return fmt::format("{} -> {}", fmt::join(gpus, ","), fmt::join(places, ","));
  return arrow_text(cpus, memory);
}

/// Where a flow reads from.
const Residency& memory_read(const FlowResult& flow) {
  return flow.source_residency ? *flow.source_residency : flow.residency;
}

/// "2 -> 0": where what is read and what is written lie, as observed.
std::string copied_between(const Case& one) {
  NodeSet from, to;
  for (const FlowResult& flow : one.flows) {
    from = from | nodes_of(memory_read(flow));
    to = to | nodes_of(flow.residency);
  }
  return arrow_text(from, to);
}

/// "1 from 0" where a flow reads from memory apart.
std::string with_source(const FlowResult& flow, const std::string& mine, const std::string& its) {
  return flow.source_memory.empty() ? mine : mine + " from " + its;
}
/// Where pages were found; those of a GPU's memory are on no node.
std::string found_text(const FlowResult& flow) {
  const auto side = [](const std::string& asked, const Residency& seen) {
    return asked.starts_with("gpu:") ? asked : text_or_none(to_list(nodes_of(seen)));
  };
  return with_source(flow, side(flow.memory, flow.residency),
                     side(flow.source_memory, memory_read(flow)));
}

/// Node that a flow's GPU is near to.
std::string gpu_node(const RunReport& report, const FlowResult& flow) {
  // A report of one host has one machine.
  const auto host = static_cast<std::size_t>(host_of(report, flow));
  if (!flow.gpu || report.machines.empty()) return unknown_text;
  const Machine& machine = report.machines[report.machines.size() == 1 ? 0 : host];
  for (const Gpu& gpu : machine.gpus)
    if (gpu.pci_address == flow.gpu->pci_address && gpu.node) return node_text(*gpu.node);
  return unknown_text;
}

/// Where the longest pass was: "rank 4 on cn17" of a process, "cn17" of a host.
std::string slowest_text(const RunReport& report, const Case& one, double PassTimes::*time) {
  std::string text = unknown_text;
  double longest = 0;
  for (const HostTotals& host : one.host_totals) {
    for (const PassTimes& pass : counted(host.passes)) {
      if (pass.*time <= longest) continue;
      longest = pass.*time;
      text = report.hosts[static_cast<std::size_t>(host.host)];
      if (time == &PassTimes::slowest) text = fmt::format("rank {} on {}", pass.slowest_rank, text);
    }
  }
  return text;
}

using CaseText = std::function<std::string(const RunReport&, const Case&)>;

const std::map<std::string, CaseText>& case_texts() {
  static const std::map<std::string, CaseText> texts{
      {"name", [](auto&, auto& c) { return c.name; }},
      {"kernel", [](auto&, auto& c) { return c.kernel; }},
      {"flows_text", [](auto&, auto& c) { return text_or_none(c.flows_text); }},
      {"stores", [](auto&, auto& c) { return text_or_none(c.stores); }},
      {"size", [](auto&, auto& c) { return compact_text(c.size); }},
      {"pages", [](auto&, auto& c) { return text_or_none(c.pages); }},
      {"order", [](auto&, auto& c) { return text_or_none(c.order); }},
      {"stride", [](auto&, auto& c) { return compact_text(c.stride); }},
      {"status", [](auto&, auto& c) { return std::string(name_of(c.status)); }},
      {"reason", [](auto&, auto& c) { return text_or_none(c.reason); }},
      {"workers", [](auto&, auto& c) { return std::to_string(c.flows.size()); }},
      {"loaders",
       [](auto&, auto& c) {
         return std::to_string(std::ranges::count(c.flows, true, &FlowResult::load));
       }},
      {"level", [](auto&, auto& c) { return level_text(c); }},
      {"cache", [](auto&, auto& c) { return text_or_none(cache_text(c)); }},
      {"nodes", [](auto& r, auto& c) { return nodes_text(r, c.flows); }},
      {"copied_between", [](auto&, auto& c) { return copied_between(c); }},
      {"slowest_host", [](auto& r, auto& c) { return slowest_text(r, c, &PassTimes::node); }},
      {"slowest_process",
       [](auto& r, auto& c) { return slowest_text(r, c, &PassTimes::slowest); }}};
  return texts;
}

using FlowText = std::function<std::string(const RunReport&, const FlowResult&)>;

const std::map<std::string, FlowText>& flow_texts() {
  static const std::map<std::string, FlowText> texts{
      {"kernel", [](auto&, auto& f) { return full_name(f); }},
      {"stores", [](auto&, auto& f) { return text_or_none(f.stores); }},
      {"size", [](auto&, auto& f) { return compact_text(f.size); }},
      {"level", [](auto&, auto& f) { return f.level; }},
      {"worker", [](auto&, auto& f) { return std::to_string(f.worker); }},
      {"rank", [](auto& r, auto& f) { return fmt::format("{:03}", worker_of(r, f).rank); }},
      {"thread", [](auto& r, auto& f) { return std::to_string(worker_of(r, f).thread); }},
      {"host",
       [](auto& r, auto& f) { return r.hosts[static_cast<std::size_t>(worker_of(r, f).host)]; }},
      {"cpu", [](auto& r, auto& f) { return to_list(worker_of(r, f).cpus); }},
      {"cpu_node", [](auto& r, auto& f) { return node_text(worker_of(r, f).cpu_node); }},
      {"memory", [](auto&, auto& f) { return with_source(f, f.memory, f.source_memory); }},
      {"memory_node", [](auto&, auto& f) { return found_text(f); }},
      {"nodes",
       [](auto& r, auto& f) {
         return nodes_text(r, {&f, 1});
       }},
      {"page_size", [](auto&, auto& f) { return observed_memory(f).page_text(); }},
      {"role", [](auto&, auto& f) { return f.load ? "load" : "measured"; }},
      {"first_touch",
       [](auto&, auto& f) { return std::to_string(f.first_touch.value_or(f.worker)); }},
      {"rate",
       [](auto&, auto& f) {
         return f.rate ? fmt::format("{:g} GB/s", *f.rate * 1e-9) : unknown_text;
       }},
      {"overlap",
       [](auto&, auto& f) {
         return f.overlap ? fmt::format("{:.0f} %", *f.overlap * 100) : unknown_text;
       }},
      {"gpu_node", gpu_node},
      {"stop", [](auto&, auto& f) { return f.stop; }}};
  return texts;
}

using GpuText = std::function<std::string(const GpuResult&)>;

const std::map<std::string, GpuText>& gpu_texts() {
  static const std::map<std::string, GpuText> texts{
      {"gpu", [](auto& g) { return std::to_string(g.gpu); }},
      {"gpu_name", [](auto& g) { return text_or_none(g.name); }},
      {"gpu_address", [](auto& g) { return text_or_none(g.pci_address); }},
      {"gpu_how",
       [](auto& g) {
         return text_or_none(!g.caches.empty() ? g.caches : g.route.empty() ? g.pinning : g.route);
       }},
      {"grid",
       [](auto& g) {
         return g.blocks > 0 ? fmt::format("{} x {}", g.blocks, g.block_threads) : unknown_text;
       }},
      {"memory_bandwidth",
       [](auto& g) {
         return g.memory_bandwidth ? fmt::format("{:.0f} GB/s", *g.memory_bandwidth * 1e-9)
                                   : unknown_text;
       }},
      {"link", [](auto& g) { return g.link ? link_text(*g.link) : unknown_text; }},
      {"link_limit", [](auto& g) {
         return g.link_limit ? fmt::format("{:.2f} GB/s", *g.link_limit * 1e-9) : unknown_text;
       }}};
  return texts;
}

bool is_of_flows(const std::string& name) {
  return flow_texts().contains(name) || gpu_texts().contains(name);
}

bool has_label(const Case& one, const std::string& name) {
  return find_label(one, name) != nullptr || case_texts().contains(name) || is_of_flows(name);
}

/// A label that all flows have.
std::string flow_text(const RunReport& report, const FlowResult& flow, const std::string& name) {
  if (const auto of_gpu = gpu_texts().find(name); of_gpu != gpu_texts().end())
    return flow.gpu ? of_gpu->second(*flow.gpu) : unknown_text;
  return flow_texts().at(name)(report, flow);
}

bool belongs(const RunReport& report, const ViewItem& item,
             const std::vector<std::pair<std::string, std::string>>& where) {
  return std::ranges::all_of(where, [&](const auto& label) {
    return !has_label(*item.one, label.first) ||
           label_text(report, item, label.first) == label.second;
  });
}

}  // namespace

bool has_label(const RunReport& report, const std::string& name) {
  return std::ranges::any_of(report.cases, [&](const Case& one) { return has_label(one, name); }) ||
         has_label(Case{}, name);
}

std::string label_text(const RunReport& report, const Case& one, const std::string& name) {
  if (const std::string* own = find_label(one, name)) return text_or_none(*own);
  const auto built_in = case_texts().find(name);
  if (built_in != case_texts().end()) return built_in->second(report, one);
  if (!is_of_flows(name)) return unknown_text;
  std::vector<std::string> texts;
  for (const FlowResult& flow : one.flows) {
    add_once(texts, flow_text(report, flow, name));
  }
  return texts.empty() ? unknown_text : fmt::format("{}", fmt::join(texts, "/"));
}

std::string label_text(const RunReport& report, const ViewItem& item, const std::string& name) {
  if (item.group != nullptr) {
    for (const auto& [label, text] : item.group->labels)
      if (label == name) return text;
  }
  if (item.flow != nullptr && is_of_flows(name) && find_label(*item.one, name) == nullptr)
    return flow_text(report, *item.flow, name);
  return label_text(report, *item.one, name);
}

std::string spaced(std::string label) {
  const std::size_t digits = label.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string::npos) return label;
  static const std::set<std::string, std::less<>> units{"B", "KiB", "MiB", "GiB", "TiB", "%"};
  if (units.contains(std::string_view(label).substr(digits))) label.insert(digits, " ");
  return label;
}

const Figure* figure_of(const ViewItem& item, const std::string& key) {
  if (item.group != nullptr) return find_figure(item.group->figures, key);
  if (item.flow != nullptr) return find_figure(*item.flow, key);
  if (const Figure* const own = find_figure(item.one->figures, key)) return own;
  if (!item.one->groups.empty()) return find_figure(item.one->groups.front().figures, key);
  for (const FlowResult& flow : item.one->flows)
    if (!flow.load) return find_figure(flow, key);  // the only one
  return nullptr;
}

std::optional<Estimate> estimate_of(const Case& one, const std::string& key) {
  const Figure* const figure = figure_of({&one}, key);
  return figure == nullptr ? std::nullopt : figure->estimate;
}

std::span<const double> visits_of(const Case& one, const std::string& key) {
  if (!one.visits) return {};
  for (const VisitValues& figure : one.visits->figures)
    if (figure.key == key) return figure.values;
  return {};
}

std::vector<FigureItem> figures_of(const Case& one) {
  std::vector<FigureItem> items;
  for (const Figure& figure : one.figures) items.push_back({&one, nullptr, nullptr, &figure});
  for (const HostTotals& host : one.host_totals)
    for (const Figure& figure : host.figures) items.push_back({&one, nullptr, &host, &figure});
  for (const FlowResult& flow : one.flows)
    for (const Figure& figure : flow.figures) items.push_back({&one, &flow, nullptr, &figure});
  return items;
}

std::vector<ViewItem> items_of(const RunReport& report, const View& view) {
  std::vector<ViewItem> items;
  for (const Case& one : report.cases) {
    std::vector<ViewItem> mine;
    if (view.level == ViewLevel::cases) mine.push_back({&one});
    // The first is that of all flows, where their nodes differ.
    if (view.level == ViewLevel::groups) {
      for (std::size_t i = one.groups.size() > 1 ? 1 : 0; i < one.groups.size(); ++i)
        mine.push_back({&one, &one.groups[i]});
    }
    const bool measured = view.level == ViewLevel::groups && one.groups.empty();
    for (const FlowResult& flow : one.flows) {
      if (view.level == ViewLevel::flows || (measured && !flow.load))
        mine.push_back({&one, nullptr, &flow});
    }
    std::ranges::copy_if(mine, std::back_inserter(items),
                         [&](const ViewItem& item) { return belongs(report, item, view.where); });
  }
  return items;
}

std::optional<Estimate> host_estimate_of(const Case& one, const std::string& key) {
  if (one.status != Status::ok) return std::nullopt;
  std::vector<Estimate> hosts;
  for (const HostTotals& host : one.host_totals) {
    const Figure* const figure = find_figure(host.figures, key);
    if (figure != nullptr && figure->estimate) hosts.push_back(*figure->estimate);
  }
  return hosts.empty() ? estimate_of(one, key) : median_of(hosts);
}

std::vector<CaseGroup> groups_of(const RunReport& report, const std::vector<std::string>& labels) {
  std::vector<CaseGroup> groups;
  std::vector<std::string> known;
  std::ranges::copy_if(labels, std::back_inserter(known),
                       [&](const std::string& name) { return has_label(report, name); });
  for (const Case& one : report.cases) {
    CaseGroup group;
    for (const std::string& name : known) {
      if (has_label(one, name)) group.labels.emplace_back(name, label_text(report, one, name));
    }
    if (group.labels.size() == known.size() &&
        std::ranges::find(groups, group.labels, &CaseGroup::labels) == groups.end())
      groups.push_back(std::move(group));
  }
  for (CaseGroup& group : groups) {
    for (const Case& one : report.cases)
      if (belongs(report, {&one}, group.labels)) group.cases.push_back(&one);
  }
  return groups;
}

std::string kind_words(const NumaNode& node) {
  std::string kind = node.kind == "dram" ? "" : node.kind;
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::toupper(c); });
  return kind;
}

std::string node_with_kind(const Machine* machine, const std::string& node) {
  const NumaNode* const it = node_named(machine, node);
  const std::string kind = it == nullptr ? "" : kind_words(*it);
  return kind.empty() ? node : fmt::format("{} ({})", node, kind);
}

std::string memory_class(const Machine* machine, const std::string& cpu_node,
                         const std::string& memory_node) {
  if (cpu_node == memory_node) return "local";
  const NumaNode* const node = node_named(machine, memory_node);
  if (node == nullptr || !node->cpus.empty()) return "remote";
  const std::string kind = kind_words(*node);
  return kind.empty() ? "without CPUs" : kind;
}

std::string level_text(const Case& one) {
  std::set<std::string> levels;
  for (const FlowResult& flow : one.flows) levels.insert(flow.level);
  return levels.empty() ? "-" : fmt::format("{}", fmt::join(levels, "/"));
}

std::string cache_text(const Case& one) {
  std::set<std::string> caches;
  for (const FlowResult& flow : one.flows) {
    const bool past_caches = !traits_of(flow.kernel).reads && flow.stores == "non-temporal";
    const bool of_cpus = flow.level.starts_with("L") && !past_caches;
    if (of_cpus || flow.level == side_cache_level) caches.insert(flow.level);
  }
  return fmt::format("{}", fmt::join(caches, "/"));
}

std::string cache_warning_text(const std::string& figures, const std::string& caches) {
  return fmt::format(
      "{} of {}{}, not of memory: the working set fits there (use a larger size, if "
      "memory limits allow it)",
      figures, caches.starts_with(side_cache_level) ? "the " : "", caches);
}

std::vector<Warning> cache_warnings(const RunReport& report) {
  std::vector<Warning> warnings;
  for (const Case& one : report.cases) {
    const std::string caches = cache_text(one);
    if (caches.empty()) continue;
    warnings.push_back({"fits-cache", one.name, cache_warning_text("a figure", caches)});
  }
  return warnings;
}

}  // namespace numatlas

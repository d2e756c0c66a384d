#include "record/labels.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/size_list.h"
#include "record/cache_level.h"

namespace numatlas {
namespace {

const std::string none = "-";

std::string text_or_none(const std::string& text) { return text.empty() ? none : text; }
std::string node_text(NodeId node) { return node.value < 0 ? none : std::to_string(node.value); }

const WorkerRow& worker_of(const RunReport& report, const FlowResult& flow) {
  return report.workers[static_cast<std::size_t>(flow.worker)];
}

/// "0,1 -> 2": nodes of the workers' CPUs and of their memory as observed.
std::string nodes_of(const RunReport& report, const ScenarioResult& one) {
  NodeSet cpus, memory;
  for (const FlowResult& flow : one.flows) {
    const NodeId node = worker_of(report, flow).cpu_node;
    if (node.value >= 0) cpus.insert(node);
    for (const auto& [id, pages] : observed_memory(flow).pages_by_node) {
      if (pages > 0) memory.insert(NodeId{id});
    }
  }
  return text_or_none(to_list(cpus)) + " -> " + text_or_none(to_list(memory));
}

/// "2 -> 0": where what is read and what is written lie, as observed.
std::string copied_between(const ScenarioResult& one) {
  NodeSet from, to;
  const auto add = [](const Residency& seen, NodeSet& nodes) {
    for (const auto& [id, pages] : seen.pages_by_node) {
      if (pages > 0) nodes.insert(NodeId{id});
    }
  };
  for (const FlowResult& flow : one.flows) {
    add(flow.source_residency.value_or(flow.residency), from);
    add(flow.residency, to);
  }
  return text_or_none(to_list(from)) + " -> " + text_or_none(to_list(to));
}

using CaseText = std::function<std::string(const RunReport&, const ScenarioResult&)>;

const std::map<std::string, CaseText>& case_texts() {
  using Report = RunReport;
  using Case = ScenarioResult;
  static const std::map<std::string, CaseText> texts{
      {"name", [](const Report&, const Case& c) { return c.name; }},
      {"kernel", [](const Report&, const Case& c) { return c.kernel; }},
      {"stores", [](const Report&, const Case& c) { return text_or_none(c.stores); }},
      {"size", [](const Report&, const Case& c) { return compact_text(c.size); }},
      {"pages", [](const Report&, const Case& c) { return text_or_none(c.pages); }},
      {"order", [](const Report&, const Case& c) { return text_or_none(c.order); }},
      {"stride", [](const Report&, const Case& c) { return compact_text(c.stride); }},
      {"status", [](const Report&, const Case& c) { return std::string(name_of(c.status)); }},
      {"reason", [](const Report&, const Case& c) { return text_or_none(c.reason); }},
      {"workers", [](const Report&, const Case& c) { return std::to_string(c.flows.size()); }},
      {"level", [](const Report&, const Case& c) { return level_text(c); }},
      {"cache", [](const Report&, const Case& c) { return text_or_none(cache_text(c)); }},
      {"nodes", nodes_of},
      {"copied_between", [](const Report&, const Case& c) { return copied_between(c); }}};
  return texts;
}

using FlowText = std::function<std::string(const RunReport&, const FlowResult&)>;

const std::map<std::string, FlowText>& flow_texts() {
  using Report = RunReport;
  using Flow = FlowResult;
  const auto percent = [](double part) { return fmt::format("{:.0f}%", part * 100); };
  static const std::map<std::string, FlowText> texts{
      {"kernel", [](const Report&, const Flow& f) { return full_name(f); }},
      {"stores", [](const Report&, const Flow& f) { return text_or_none(f.stores); }},
      {"size", [](const Report&, const Flow& f) { return compact_text(f.size); }},
      {"level", [](const Report&, const Flow& f) { return f.level; }},
      {"worker", [](const Report&, const Flow& f) { return std::to_string(f.worker); }},
      {"rank",
       [](const Report& r, const Flow& f) { return fmt::format("{:03}", worker_of(r, f).rank); }},
      {"thread",
       [](const Report& r, const Flow& f) { return std::to_string(worker_of(r, f).thread); }},
      {"host",
       [](const Report& r, const Flow& f) {
         return r.hosts[static_cast<std::size_t>(worker_of(r, f).host)];
       }},
      {"cpu", [](const Report& r, const Flow& f) { return to_list(worker_of(r, f).cpus); }},
      {"cpu_node",
       [](const Report& r, const Flow& f) { return node_text(worker_of(r, f).cpu_node); }},
      {"memory", [](const Report&, const Flow& f) { return f.memory; }},
      {"memory_node", [](const Report&, const Flow& f) { return memory_node_text(f); }},
      {"page_size", [](const Report&, const Flow& f) { return observed_memory(f).page_text(); }},
      {"role", [](const Report&, const Flow& f) { return f.load ? "load" : "measured"; }},
      {"first_touch",
       [](const Report&, const Flow& f) {
         return std::to_string(f.first_touch.value_or(f.worker));
       }},
      {"overlap",
       [percent](const Report&, const Flow& f) { return f.overlap ? percent(*f.overlap) : none; }},
      {"stop", [](const Report&, const Flow& f) { return f.stop; }}};
  return texts;
}

const std::string* own_label(const ScenarioResult& one, const std::string& name) {
  for (const auto& [label, text] : one.labels) {
    if (label == name) return &text;
  }
  return nullptr;
}

}  // namespace

bool has_label(const RunReport& report, const std::string& name) {
  if (case_texts().contains(name) || flow_texts().contains(name)) return true;
  return std::any_of(report.scenarios.begin(), report.scenarios.end(),
                     [&](const ScenarioResult& one) { return own_label(one, name) != nullptr; });
}

std::string label_text(const RunReport& report, const ScenarioResult& one,
                       const std::string& name) {
  if (const std::string* own = own_label(one, name)) return text_or_none(*own);
  const auto built_in = case_texts().find(name);
  return built_in == case_texts().end() ? none : built_in->second(report, one);
}

std::string label_text(const RunReport& report, const ScenarioResult& one, const FlowResult& flow,
                       const std::string& name) {
  const auto built_in = flow_texts().find(name);
  if (own_label(one, name) == nullptr && built_in != flow_texts().end())
    return built_in->second(report, flow);
  return label_text(report, one, name);
}

std::optional<Estimate> estimate_of(const ScenarioResult& one, const std::string& key) {
  if (const Figure* const figure = find_figure(one.figures, key)) return figure->estimate;
  std::vector<Estimate> measured;
  for (const FlowResult& flow : one.flows) {
    const Figure* const figure = flow.load ? nullptr : find_figure(flow, key);
    if (figure != nullptr && figure->estimate) measured.push_back(*figure->estimate);
  }
  return measured.size() == 1 ? measured.front() : median_of(measured);
}

std::vector<CaseGroup> groups_of(const RunReport& report, const std::vector<std::string>& labels) {
  std::vector<CaseGroup> groups;
  for (const ScenarioResult& one : report.scenarios) {
    CaseGroup group;
    for (const std::string& name : labels) {
      if (has_label(report, name)) group.labels.emplace_back(name, label_text(report, one, name));
    }
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const CaseGroup& other) { return other.labels == group.labels; });
    if (found == groups.end()) found = groups.insert(groups.end(), std::move(group));
    found->cases.push_back(&one);
  }
  return groups;
}

}  // namespace numatlas

#include "record/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "record/report_fields.h"

namespace numatlas {

const char* name_of(Status status) { return fields::name_in_record(status); }

NodeSet nodes_of(const Residency& residency) {
  NodeSet nodes;
  for (const auto& [node, pages] : residency.pages_by_node) {
    if (pages > 0) nodes.insert(NodeId{node});
  }
  return nodes;
}

int host_of(const RunReport& report, const FlowResult& flow) {
  return report.workers[static_cast<std::size_t>(flow.worker)].host;
}

bool is_null_engine(const std::string& engine) { return engine.starts_with("null"); }

std::string option_of(const std::vector<std::string>& words, std::string_view option) {
  std::string value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with(option)) continue;
    const std::string_view rest = word.substr(option.size());
    if (rest.starts_with('=')) value = rest.substr(1);
    if (rest.empty() && i + 1 < words.size()) value = words[i + 1];
  }
  return value;
}

std::string name_in_survey(const RunHead& run) {
  if (!option_of(run.arguments, "--load-memory").empty()) return run.command + "-neighbours";
  const std::string on = option_of(run.arguments, "--on");
  return on.empty() || on == "cpus" ? run.command : run.command + "-gpus";
}

std::string options_text(const RunHead& run) {
  // What is written, and how it is shown.
  constexpr std::array<std::string_view, 8> with_value{
      "--json", "--csv", "--openmetrics", "--format", "--dat", "--output", "-o", "--label"};
  constexpr std::array<std::string_view, 5> flags{"-q", "--quiet", "--samples", "--stats",
                                                  "--no-fail"};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < run.arguments.size(); ++i) {
    const std::string& word = run.arguments[i];
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(flags, word) != flags.end() || (i == 0 && word == run.command)) continue;
    if (std::ranges::find(with_value, name) != with_value.end()) {
      i += name == word ? 1 : 0;
      continue;
    }
    words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> slowed_gpus(const Case& result) {
  std::vector<std::string> texts;
  for (const FlowResult& flow : result.flows) {
    if (!flow.gpu || flow.gpu->slowed_by.empty()) continue;
    const std::string text = "the clocks of GPU " + std::to_string(flow.gpu->gpu) +
                             " were held down (" + flow.gpu->slowed_by + ")";
    add_once(texts, text);
  }
  return texts;
}

const PilotSeries* pilot_for(const Case& result, Unit unit,
                             const std::vector<PilotSeries>& pilots) {
  const bool by_gpus = std::ranges::any_of(
      result.flows, [](const FlowResult& flow) { return flow.gpu.has_value(); });
  if (by_gpus) return nullptr;
  const auto found = std::ranges::find(pilots, unit, &PilotSeries::unit);
  return found == pilots.end() ? nullptr : &*found;
}

std::string full_name(const FlowResult& flow) {
  return flow.mix.empty() ? flow.kernel : flow.kernel + " " + flow.mix;
}

const Residency& observed_memory(const FlowResult& flow) {
  return flow.gpu && flow.gpu->direction == "h2d" && flow.source_residency ? *flow.source_residency
                                                                           : flow.residency;
}

std::string memory_node_text(const FlowResult& flow) {
  const NodeSet nodes = nodes_of(observed_memory(flow));
  return nodes.empty() ? "-" : to_list(nodes);
}

const Figure* find_total(const Case& one, const std::string& key) {
  return find_figure(one.figures, key);
}

const std::string* find_label(const Case& one, const std::string& name) {
  for (const auto& [label, text] : one.labels) {
    if (label == name) return &text;
  }
  return nullptr;
}

std::string label_of(const Case& one, const std::string& name) {
  const std::string* const text = find_label(one, name);
  return text == nullptr ? "" : *text;
}

const Figure* find_figure(const FlowResult& flow, const std::string& key) {
  return find_figure(flow.figures, key);
}

std::optional<double> half_width(const FlowResult& flow) {
  return flow.figures.empty() ? std::nullopt : half_width(flow.figures.front());
}

HostParts::HostParts(const RunReport& report)
    : report_(report), bare_(report), flows_(report.hosts.size()) {
  for (std::size_t at = 0; at < report.cases.size(); ++at) {
    bare_.cases[at].flows.clear();
    bare_.cases[at].groups.clear();
    for (const FlowResult& flow : report.cases[at].flows)
      flows_[static_cast<std::size_t>(host_of(report, flow))].emplace_back(at, &flow);
  }
}

RunReport HostParts::of(int host) const {
  RunReport part = bare_;
  const auto at = static_cast<std::size_t>(host);
  part.machines = {report_.machines[at]};
  for (const auto& [number, flow] : flows_[at]) part.cases[number].flows.push_back(*flow);
  for (Case& one : part.cases) {
    const auto mine = std::ranges::find(one.host_totals, host, &HostTotals::host);
    one.figures = mine == one.host_totals.end() ? std::vector<Figure>{} : mine->figures;
  }
  return part;
}

}  // namespace numatlas

// For issues and wikis: the machine, tables of figures, and what to read them with.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "export/export.h"
#include "machine/identity.h"
#include "report/fact_text.h"
#include "report/text_table.h"

namespace numatlas {
namespace {

using Facts = std::vector<const Fact*>;

const TextStyle& style() {
  static const TextStyle markdown = [] {
    TextStyle one;
    one.markdown = true;
    return one;
  }();
  return markdown;
}

std::vector<std::string> different(const Facts& facts, const std::string& label) {
  std::vector<std::string> values;
  for (const Fact* fact : facts) {
    const std::string value = where_of(*fact, label);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// The two labels that tell most of the facts apart: of the rows and of the columns. Fewer where
/// the facts are no matrix, as the summary of a survey has them: without words for a line of their
/// own, of one key, with the same labels.
std::vector<std::string> axes_of(const Facts& facts) {
  const Fact& first = *facts.front();
  std::vector<std::string> labels;
  for (const auto& [name, value] : first.where) labels.push_back(name);
  for (const Fact* fact : facts) {
    const bool alike = fact->key == first.key && fact->where.size() == labels.size() &&
                       std::all_of(labels.begin(), labels.end(), [&](const std::string& name) {
                         return !where_of(*fact, name).empty();
                       });
    if (!alike || !fact->line.empty() || fact->heading.empty()) return {};
  }
  std::vector<std::string> most = labels;
  std::stable_sort(most.begin(), most.end(), [&](const std::string& a, const std::string& b) {
    return different(facts, a).size() > different(facts, b).size();
  });
  most.resize(std::min<std::size_t>(most.size(), 2));
  std::erase_if(labels, [&](const std::string& name) {
    return std::find(most.begin(), most.end(), name) == most.end();
  });
  return labels;
}

std::string words_of(const std::string& label) {
  std::string words = label;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string matrix_text(const Facts& facts, const std::string& row_label,
                        const std::string& column_label) {
  const auto columns = different(facts, column_label);
  std::vector<TextRow> table{{words_of(row_label)}};
  for (const std::string& column : columns)
    table.front().emplace_back(fmt::format("{} {}", words_of(column_label), column));
  for (const std::string& row : different(facts, row_label)) {
    table.push_back({row});
    for (const std::string& column : columns) {
      const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact* fact) {
        return where_of(*fact, row_label) == row && where_of(*fact, column_label) == column;
      });
      table.back().emplace_back(found == facts.end() ? "-" : figure_text(**found));
    }
  }
  return table_lines(table, 1, style());
}

/// Facts of one heading, or of one key where they have none, in the order of the first of each.
std::vector<std::pair<std::string, Facts>> groups_of(const std::vector<ExportedFact>& facts) {
  std::vector<std::pair<std::string, Facts>> groups;
  for (const ExportedFact& one : facts) {
    const Fact& fact = *one.fact;
    const std::string title = fact.heading.empty() ? "Other figures" : fact.heading;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == title; });
    if (found == groups.end()) found = groups.insert(groups.end(), {title, {}});
    found->second.push_back(&fact);
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const auto& group) { return group.first != "Other figures"; });
  return groups;
}

std::string machine_text(const Machine& machine) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  add(machine.cpu_model);
  add(fmt::format("{} CPUs", machine.cpus.size()));
  add(fmt::format("{} NUMA node{}", machine.nodes.size(), machine.nodes.size() == 1 ? "" : "s"));
  add(machine.os);
  if (is_virtual(machine)) add(fmt::format("virtual machine ({})", *machine.hypervisor));
  for (const Gpu& gpu : machine.gpus) add(gpu.name.empty() ? gpu.vendor + " GPU" : gpu.name);
  return text;
}

Expected<Exported> export_markdown(const ExportInput& input) {
  std::string text = fmt::format("Measured by {}.\n", provenance_of(input));
  if (const Machine* machine = machine_of(input))
    text += fmt::format("\nMachine: {}.\n", machine_text(*machine));
  std::vector<TextRow> others{{"figure", "value"}};
  const std::vector<ExportedFact> all = facts_of(input);
  for (const auto& [title, facts] : groups_of(all)) {
    if (const auto axes = axes_of(facts); facts.size() > 1 && axes.size() == 2) {
      text += fmt::format("\n**{}**\n\n{}", title, matrix_text(facts, axes[0], axes[1]));
      continue;
    }
    for (const Fact* fact : facts) {
      const std::string words = fact->words.empty() ? words_of(fact->key) : fact->words;
      const bool alone = title == "Other figures" || words.starts_with(title);
      others.push_back({alone ? words : fmt::format("{}: {}", title, words), figure_text(*fact)});
    }
  }
  if (others.size() > 1)
    text += fmt::format("\n**Other figures**\n\n{}", table_lines(others, 1, style()));
  std::string lines;
  // A star alone begins a list.
  if (std::any_of(all.begin(), all.end(), [](const auto& one) { return has_star(*one.fact); }))
    lines += "\\" + star_note() + "\n";
  for (const std::string& caveat : caveats_of(input)) lines += caveat + "\n";
  if (!lines.empty()) text += "\n**Notes**\n\n" + markdown_lines(lines);
  return Exported{text, {}};
}

}  // namespace

ExportForm markdown_form() {
  return {"markdown", "tables for issues and wikis", false, true, export_markdown};
}

}  // namespace numatlas

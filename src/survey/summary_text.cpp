// The summary for people: one screen.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.h"
#include "base/size_list.h"
#include "base/text.h"
#include "machine/identity.h"
#include "record/told.h"
#include "report/fact_text.h"
#include "survey/summary.h"

namespace numatlas {
namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t label_width = 14;
// More cells are told in words: a screen has no room for them.
constexpr std::size_t most_nodes_shown = 8;
constexpr std::size_t most_warnings = 6;

using FactList = std::vector<const Fact*>;

/// A label and words after it, in lines of at most 100 columns.
std::string paragraph(const std::string& label, const std::string& words) {
  std::string text, line = fmt::format("{:<{}}", label, label_width);
  if (label.size() >= label_width) line += "  ";
  bool empty = true;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!empty && line.size() + 1 + word.size() > columns) {
      text += line + "\n";
      line = std::string(label_width, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return text + line + "\n";
}

/// "0,2,...": cut after some.
std::string short_list(const std::string& list) {
  constexpr std::size_t widest = 40;
  return list.size() <= widest ? list : list.substr(0, list.rfind(',', widest)) + ",...";
}

std::string machine_words(const Machine& machine) {
  std::set<int> packages, cores;
  for (const Cpu& cpu : machine.cpus) {
    if (cpu.package >= 0) packages.insert(cpu.package);
    cores.insert(cpu.core);
  }
  std::string text = machine.host.empty() ? "" : machine.host + ": ";
  text += machine.cpu_model.empty() ? "" : machine.cpu_model + ", ";
  if (!packages.empty()) text += count_text(packages.size(), "socket") + ", ";
  text += count_text(cores.size(), "core") + ", " + count_text(machine.cpus.size(), "CPU");
  const std::size_t usable = machine.usable_cpus().size();
  if (usable < machine.cpus.size()) text += fmt::format(" ({} may be used)", usable);
  if (is_virtual(machine)) text += fmt::format("; a virtual machine ({})", *machine.hypervisor);
  if (!machine.is_live()) text += "; recorded, not measured";
  return text;
}

std::string node_words(const NumaNode& node) {
  std::string text = fmt::format("{}: ", node.id.value);
  text += node.cpus.empty() ? "no CPUs" : "CPUs " + short_list(to_list(node.cpus));
  if (node.memory_total)
    text += node.has_memory() ? ", " + to_rounded_text(*node.memory_total) : ", no memory";
  if (!node.kind.empty() && node.kind != "dram") text += " (" + node.kind + ")";
  if (!node.side_caches.empty())
    text += " behind a memory-side cache of " + to_rounded_text(node.side_cache());
  return text;
}

std::string nodes_words(const Machine& machine) {
  std::vector<std::string> nodes;
  if (machine.nodes.size() > most_nodes_shown) {
    std::size_t without_cpus = 0;
    for (const NumaNode& node : machine.nodes) without_cpus += node.cpus.empty() ? 1 : 0;
    return fmt::format("{}{}; topology.txt lists them",
                       count_text(machine.nodes.size(), "NUMA node"),
                       without_cpus == 0 ? "" : fmt::format(", {} without CPUs", without_cpus));
  }
  for (const NumaNode& node : machine.nodes) nodes.push_back(node_words(node));
  return fmt::format("{}", fmt::join(nodes, "; "));
}

/// The values of a label, in the order of the first of each.
std::vector<std::string> different(const FactList& facts, std::size_t label) {
  std::vector<std::string> values;
  for (const Fact* fact : facts) {
    const std::string& value = fact->where[label].second;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string place_of(const Fact& fact) {
  return fmt::format("CPUs of node {} to memory of node {}", fact.where[0].second,
                     fact.where[1].second);
}

/// "lowest 80.1 ns +-0.2% (CPUs of node 0 to memory of node 0), highest ...".
std::string extremes(const FactList& facts) {
  const auto [low, high] = std::minmax_element(
      facts.begin(), facts.end(),
      [](const Fact* a, const Fact* b) { return a->estimate.value < b->estimate.value; });
  return fmt::format("lowest {} ({}), highest {} ({})", figure_text(**low), place_of(**low),
                     figure_text(**high), place_of(**high));
}

std::string cell_of(const FactList& facts, const std::string& row, const std::string& column,
                    bool with_width) {
  for (const Fact* fact : facts) {
    if (fact->where[0].second != row || fact->where[1].second != column) continue;
    const double scale = fact->unit == "s" ? 1e9 : 1e-9;
    const auto number = [&](double value) { return three_digits(value * scale); };
    return told(fact->estimate, number) + (with_width ? interval_text(*fact) : "");
  }
  return "-";
}

/// Rows are nodes with CPUs, columns nodes with memory.
std::string matrix_text(const std::string& heading, const FactList& facts) {
  const auto rows = different(facts, 0), memory = different(facts, 1);
  if (facts.size() == 1) {
    const std::string &row = rows.front(), &column = memory.front();
    return paragraph("Node " + (row == column ? row : row + " to " + column),
                     heading + ": " + figure_text(*facts.front()));
  }
  if (rows.size() > most_nodes_shown || memory.size() > most_nodes_shown)
    return paragraph(heading, extremes(facts));
  // With many columns the widths would not fit: the widest of them is told.
  constexpr std::size_t widest_with_widths = 5;
  const bool apart = memory.size() > widest_with_widths;
  std::vector<std::vector<std::string>> cells{{""}};
  for (const std::string& column : memory) cells.front().push_back("memory " + column);
  for (const std::string& row : rows) {
    cells.push_back({"CPUs of node " + row});
    for (const std::string& column : memory)
      cells.back().push_back(cell_of(facts, row, column, !apart));
  }
  const Fact* const widest =
      *std::max_element(facts.begin(), facts.end(), [](const Fact* a, const Fact* b) {
        return half_width(a->estimate).value_or(0) < half_width(b->estimate).value_or(0);
      });
  const std::string width = interval_text(*widest);
  std::string text =
      fmt::format("{} ({}){}\n", heading, facts.front()->unit == "s" ? "ns" : "GB/s",
                  apart && !width.empty() ? ", each within" + width + " or less" : "");
  std::istringstream table(aligned(cells, 1));
  for (std::string line; std::getline(table, line);) text += "  " + line + "\n";
  return text;
}

/// Facts of one heading: a matrix, or one line.
std::string heading_text(const std::string& heading, const FactList& facts) {
  if (facts.front()->line.empty()) return matrix_text(heading, facts);
  std::string words;
  for (const Fact* fact : facts) {
    std::string part = fact->line;
    if (const auto at = part.find("{}"); at != std::string::npos)
      part.replace(at, 2, figure_text(*fact));
    words += (words.empty() ? "" : "; ") + part;
  }
  return paragraph(heading, words);
}

std::string facts_text(const std::vector<Fact>& facts) {
  std::vector<std::pair<std::string, FactList>> headings;
  for (const Fact& fact : facts) {
    if (fact.heading.empty()) continue;
    auto found = std::find_if(headings.begin(), headings.end(),
                              [&](const auto& one) { return one.first == fact.heading; });
    if (found == headings.end()) found = headings.insert(headings.end(), {fact.heading, {}});
    found->second.push_back(&fact);
  }
  std::string text;
  for (const auto& [heading, its] : headings) text += heading_text(heading, its);
  return text.empty() ? "No results to summarize.\n" : text;
}

std::string listed(const char* label, const std::vector<std::string>& lines, std::size_t most,
                   const char* where) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < most; ++i)
    text += paragraph(i == 0 ? label : "", lines[i]);
  if (lines.size() > most)
    text += paragraph("", fmt::format("and {} more in {}", lines.size() - most, where));
  return text;
}

}  // namespace

std::string summary_text(const Machine& machine, const SurveySummary& summary,
                         const SurveyFrame& frame) {
  std::string text = paragraph("Machine", machine_words(machine)) +
                     paragraph(machine.nodes.size() == 1 ? "Node" : "Nodes", nodes_words(machine)) +
                     "\n";
  text += facts_text(summary.facts);
  text += "\n" + listed("Warnings", summary.warnings, most_warnings, "survey.json");
  std::vector<std::string> skipped;
  for (const SkippedBenchmark& one : frame.skipped)
    skipped.push_back(one.benchmark + ": " + one.reason);
  text += listed("Not measured", skipped, skipped.size(), "");
  std::vector<std::string> notes = frame.notes;
  if (std::any_of(summary.facts.begin(), summary.facts.end(), has_star))
    notes.insert(notes.begin(), star_note());
  text += listed("Notes", notes, notes.size(), "");
  if (!frame.stopped.empty()) text += paragraph("Incomplete", frame.stopped);
  text += listed("Files", frame.files, frame.files.size(), "");
  return text;
}

}  // namespace numatlas

#include "survey/summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/rows.h"
#include "base/terminal.h"
#include "base/text.h"
#include "machine/identity.h"
#include "published/expected.h"
#include "published/normal.h"
#include "record/estimate.h"
#include "record/headline.h"
#include "record/labels.h"
#include "record/unit.h"
#include "report/answer.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

/// 0: memory or workers are not where they should be; 1: something else was at work; 2: the rest.
int rank_of(const Warning& warning) {
  constexpr std::array<std::string_view, 8> of_placement{
      "placement",        "page-size",   "placement-unknown", "placement-method",
      "memory-not-local", "cpu-outside", "memory-moved",      "pages-moved"};
  constexpr std::array<std::string_view, 7> of_interference{
      "low-overlap",       "oversubscribed",  "setting",   "stopped",
      "copies-took-turns", "other-processes", "two-speeds"};
  const auto has = [&](const auto& codes) {
    return std::find(codes.begin(), codes.end(), warning.code) != codes.end();
  };
  return has(of_placement) ? 0 : has(of_interference) ? 1 : 2;
}

/// Of all benchmarks, the gravest first. What holds for the machine is the same in each report.
std::vector<std::string> warnings_of(const std::vector<RunReport>& reports) {
  std::vector<Warning> all;
  for (const RunReport& report : reports) {
    for (Warning warning : report.warnings) {
      // The name of a case does not say which benchmark it is of.
      if (!warning.where.empty()) warning.where = report.command + " " + warning.where;
      if (std::find(all.begin(), all.end(), warning) == all.end())
        all.push_back(std::move(warning));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Warning& a, const Warning& b) { return rank_of(a) < rank_of(b); });
  return counted(all);
}

// A screen of a terminal that nobody has made larger.
constexpr std::size_t columns = 80, most_lines = 25;
constexpr std::size_t label_width = 16;
constexpr std::size_t words_width = columns - label_width;
// More nodes are told in words: a screen has no room for them.
constexpr std::size_t most_nodes_shown = 8;

/// A label and words after it, in lines of the screen.
std::string paragraph(const std::string& label, const std::string& words) {
  return wrapped(fmt::format("{:<{}}{}", label, label_width, words), columns, label_width);
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// "0,2,...": cut after some.
std::string short_list(const std::string& list) {
  constexpr std::size_t widest = 40;
  return list.size() <= widest ? list : list.substr(0, list.rfind(',', widest)) + ",...";
}

std::string machine_words(const Machine& machine) {
  const std::set<int> packages = machine.packages();
  std::set<std::optional<int>> cores;
  for (const Cpu& cpu : machine.cpus) cores.insert(cpu.core);
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
  if (const std::string kind = kind_words(node); !kind.empty()) text += " (" + kind + ")";
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

/// Facts of one heading in at most so many lines: with what they are of, else without, else the
/// first of them.
std::string heading_text(const Machine& machine, const std::string& heading, const FactList& facts,
                         std::size_t lines, bool in_brackets) {
  const std::string label = label_of_heading(heading);
  if (is_unknown(facts.front()->estimate)) {
    return paragraph(label, cut_to(line_text(*facts.front()) +
                                       "; it was measured too seldom, or with too much variation",
                                   lines * words_width - 8));
  }
  const auto shown = [&](const std::vector<std::string>& parts) {
    const std::string words = fmt::format("{}", fmt::join(parts, "; "));
    return paragraph(label, in_brackets ? "(" + words + ")" : words);
  };
  if (facts.front()->line.empty()) {
    const std::string of =
        facts.size() > 1 || label.size() == heading.size() ? "" : heading.substr(label.size() + 2);
    return shown({cells_text(facts, &machine) + (of.empty() ? "" : fmt::format(" ({})", of))});
  }
  // With what a figure is of, which stands in brackets behind it; without that; without narrow
  // intervals too.
  std::vector<std::string> full, brief, bare;
  constexpr double narrow = 0.05;
  for (const Fact* fact : facts) {
    const auto at = fact->line.find("{}"), of = fact->line.find(" (", at);
    const auto with = [&](std::string line, const Estimate& estimate) {
      return line.replace(at, 2, estimate_text(estimate, fact->unit));
    };
    const bool is_narrow = half_width(fact->estimate).value_or(0) <= narrow && fact->unit != "B";
    full.push_back(with(fact->line, fact->estimate));
    brief.push_back(with(fact->line.substr(0, of), fact->estimate));
    bare.push_back(with(fact->line.substr(0, of),
                        is_narrow ? Estimate(fact->estimate.value) : fact->estimate));
  }
  for (const auto& parts : {full, brief, bare})
    if (count_lines(shown(parts)) <= lines) return shown(parts);
  while (bare.size() > 1 && count_lines(shown(bare)) > lines) bare.pop_back();
  constexpr std::size_t room = 2 * words_width - 8;
  return shown({cut_to(fmt::format("{}", fmt::join(bare, "; ")), room)});
}

/// A line a question, or two where there is room for them: what comes last is cut first.
std::string facts_text(const Machine& machine, const std::vector<Fact>& facts, std::size_t room,
                       bool in_brackets) {
  FactList all;
  for (const Fact& fact : facts) all.push_back(&fact);
  const std::vector<Heading> headings = headings_in(all);
  if (headings.empty()) return "No results to summarize.\n";
  std::vector<std::string> texts;
  std::size_t used = 0;
  for (const auto& [heading, its] : headings) {
    texts.push_back(heading_text(machine, heading, its, 2, in_brackets));
    used += count_lines(texts.back());
  }
  for (std::size_t i = texts.size(); i-- > 0 && used > room;) {
    used -= count_lines(texts[i]);
    texts[i] = heading_text(machine, headings[i].words, headings[i].facts, 1, in_brackets);
    used += count_lines(texts[i]);
  }
  std::vector<std::string> left_out;
  while (used + (left_out.empty() ? 0 : 1) > room && texts.size() > 1) {
    used -= count_lines(texts.back());
    texts.pop_back();
    left_out.insert(left_out.begin(), label_of_heading(headings[texts.size()].words));
  }
  if (!left_out.empty())
    texts.push_back(paragraph("Also measured",
                              cut_to(fmt::format("{}", fmt::join(left_out, ", ")), words_width)));
  return fmt::format("{}", fmt::join(texts, ""));
}

/// The gravest in a line or two, and how many there are more.
std::string doubts_text(const std::vector<std::string>& doubts) {
  if (doubts.empty()) return "";
  const std::string more = doubts.size() == 1 ? "" : fmt::format("; {} more", doubts.size() - 1);
  return paragraph("Doubts", cut_to(doubts.front(), 2 * words_width - more.size() - 8) + more);
}

}  // namespace

SurveySummary summary_of(const std::vector<RunReport>& reports) {
  SurveySummary summary;
  for (const RunReport& report : reports)
    summary.facts.insert(summary.facts.end(), report.facts.begin(), report.facts.end());
  summary.warnings = warnings_of(reports);
  summary.distrust = distrust_of(reports);
  return summary;
}

std::vector<Normal> normal_of(const std::vector<RunReport>& reports,
                              const std::string& machine_type) {
  const Published published;
  std::vector<Normal> all;
  for (const RunReport& report : reports) {
    if (is_null_engine(report.engine)) continue;  // nothing was measured
    const AllReads reads =
        report.command == "bandwidth" ? all_reads_of(rows_of(report)) : AllReads();
    std::ranges::move(judge_figures(report, reads, machine_type, published),
                      std::back_inserter(all));
  }
  return all;
}

nlohmann::json normal_in_json(const std::vector<RunReport>& reports,
                              const std::string& machine_type) {
  nlohmann::json all = nlohmann::json::array();
  for (const Normal& one : normal_of(reports, machine_type)) {
    nlohmann::json others = nullptr;
    if (one.count > 0)
      others = {{"count", one.count}, {"median", one.median}, {"low", one.low}, {"high", one.high}};
    all.push_back({{"what", one.what},
                   {"verdict", to_text(one.verdict)},
                   {"text", to_text(one)},
                   {"unit", one.unit.symbol()},
                   {"value", one.value.value},
                   {"others", std::move(others)},
                   {"source", one.source.empty() ? nlohmann::json() : nlohmann::json(one.source)}});
  }
  return all;
}

std::string summary_text(const Machine& machine, const SurveySummary& summary,
                         const SurveyFrame& frame) {
  const bool unreliable = !summary.distrust.empty();
  std::string head = reserve_text(summary.distrust, frame.stopped);
  if (!head.empty()) head = wrapped(head, columns) + "\n";
  head += paragraph("Machine", cut_to(machine_words(machine), 2 * words_width - 8)) +
          paragraph(machine.nodes.size() == 1 ? "Node" : "Nodes",
                    cut_to(nodes_words(machine), 2 * words_width - 8)) +
          "\n";
  std::vector<std::string> doubts = frame.doubts;
  doubts.insert(doubts.end(), summary.warnings.begin(), summary.warnings.end());
  if (std::ranges::any_of(summary.facts, has_star)) doubts.push_back(star_note().substr(2));
  std::string tail = "\n" + doubts_text(doubts);
  if (!frame.normal.empty())
    tail = paragraph("Normal?", cut_to(frame.normal, 3 * words_width - 8)) + tail;
  if (!frame.skipped.empty()) {
    std::vector<std::string> names;
    for (const SkippedBenchmark& one : frame.skipped) names.push_back(one.benchmark);
    tail += paragraph("Not measured", fmt::format("{}", fmt::join(names, ", ")));
  }
  for (const std::string& file : frame.files)
    tail += paragraph(&file == &frame.files.front() ? "Files" : "", file);
  const std::size_t around = count_lines(head) + count_lines(tail);
  return head +
         facts_text(machine, summary.facts, most_lines - std::min(most_lines, around), unreliable) +
         tail;
}

}  // namespace numatlas

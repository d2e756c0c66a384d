// The summary for people: one screen.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "report/worker_table.h"
#include "survey/summary.h"

namespace numatlas {
namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t label_width = 14;
// More cells are told in words: a screen has no room for them.
constexpr std::size_t most_nodes_shown = 8;
constexpr std::size_t most_warnings = 6;

using FactList = std::vector<const SurveyFact*>;

FactList with_key(const SurveySummary& summary, const std::string& key) {
  FactList found;
  for (const SurveyFact& fact : summary.facts) {
    if (fact.key == key) found.push_back(&fact);
  }
  return found;
}

/// Three figures that count.
std::string three_figures(double value) {
  const double size = value < 0 ? -value : value;
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.9995e-6) return three_figures(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_figures(seconds * 1e6) + " us";
  return three_figures(seconds * 1e3) + " ms";
}

/// " +-0.5%"; "" without an interval.
std::string width_text(const SurveyFact& fact) {
  if (!fact.low || !fact.high || !(fact.value > 0)) return "";
  const double width = std::max(*fact.high - fact.value, fact.value - *fact.low) / fact.value * 100;
  return fmt::format(" +-{:.{}f}%", width, width < 9.95 ? 1 : 0);
}

std::string value_text(const SurveyFact& fact) {
  if (fact.unit == "s") return seconds_text(fact.value);
  if (fact.unit == "B/s") return three_figures(fact.value * 1e-9) + " GB/s";
  return three_figures(fact.value);
}

std::string figure(const SurveyFact& fact) { return value_text(fact) + width_text(fact); }

/// "1.47 times (1.45 to 1.50)".
std::string times_text(const SurveyFact& fact) {
  std::string text = fmt::format("{:.2f} times", fact.value);
  if (fact.low && fact.high) text += fmt::format(" ({:.2f} to {:.2f})", *fact.low, *fact.high);
  return text;
}

/// A label and words after it, in lines of at most 100 columns.
std::string paragraph(const std::string& label, const std::string& words) {
  std::string text, line = fmt::format("{:<{}}", label, label_width);
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

std::string count_text(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
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
  if (machine.hypervisor && !machine.hypervisor->empty())
    text += fmt::format("; a virtual machine ({})", *machine.hypervisor);
  if (!machine.is_live()) text += "; recorded, not measured";
  return text;
}

std::string node_words(const NumaNode& node) {
  std::string text = fmt::format("{}: ", node.id.value);
  text += node.cpus.empty() ? "no CPUs" : "CPUs " + short_list(to_list(node.cpus));
  text += node.has_memory() ? ", " + to_rounded_text(*node.memory_total)
                            : std::string(node.memory_total ? ", no memory" : "");
  if (!node.kind.empty() && node.kind != "dram") text += " (" + node.kind + ")";
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

std::vector<std::string> different(const FactList& facts, const char* label) {
  std::vector<std::string> values;
  for (const SurveyFact* fact : facts) {
    const std::string value = where_of(*fact, label);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// "lowest 80.1 ns +-0.2% (CPUs of node 0 to memory of node 0), highest ...".
std::string extremes(const FactList& facts, const char* from, const char* to,
                     const std::string& before, const std::string& between) {
  const auto [low, high] = std::minmax_element(
      facts.begin(), facts.end(),
      [](const SurveyFact* a, const SurveyFact* b) { return a->value < b->value; });
  const auto named = [&](const SurveyFact& fact) {
    const auto place = [&](const char* label) {
      const std::string text = where_of(fact, label);
      return text.starts_with("bind:") ? text.substr(5) : text;
    };
    return fmt::format("{} ({}{}{}{})", figure(fact), before, place(from), between, place(to));
  };
  if (facts.size() == 1) return named(**low);
  return fmt::format("lowest {}, highest {}", named(**low), named(**high));
}

std::string cell_of(const FactList& facts, const std::string& row, const std::string& column) {
  for (const SurveyFact* fact : facts) {
    if (where_of(*fact, "cpu_node") != row || where_of(*fact, "memory_node") != column) continue;
    const double scaled = fact->value * (fact->unit == "s" ? 1e9 : 1e-9);
    return three_figures(scaled) + width_text(*fact);
  }
  return "-";
}

/// Rows are nodes with CPUs, columns nodes with memory.
std::string matrix_text(const FactList& facts, const std::string& title, const char* unit) {
  const auto rows = different(facts, "cpu_node"), memory = different(facts, "memory_node");
  if (rows.size() > most_nodes_shown || memory.size() > most_nodes_shown) {
    return paragraph(
        title, extremes(facts, "cpu_node", "memory_node", "CPUs of node ", " to memory of node "));
  }
  if (facts.size() == 1) return paragraph(title, figure(*facts.front()));
  // With many columns the widths would not fit: the widest of them is told.
  constexpr std::size_t widest_with_widths = 5;
  std::vector<std::vector<std::string>> cells{{""}};
  std::string widest;
  double most = 0;
  for (const std::string& column : memory) cells.front().push_back("memory " + column);
  for (const std::string& row : rows) {
    cells.push_back({"CPUs of node " + row});
    for (const std::string& column : memory) {
      std::string cell = cell_of(facts, row, column);
      if (memory.size() > widest_with_widths) cell = cell.substr(0, cell.find(' '));
      cells.back().push_back(cell);
    }
  }
  for (const SurveyFact* fact : facts) {
    if (!fact->low || !(fact->value > 0)) continue;
    const double width = (fact->value - *fact->low) / fact->value;
    if (width >= most) widest = width_text(*fact), most = width;
  }
  const bool apart = memory.size() > widest_with_widths && !widest.empty();
  std::string text =
      fmt::format("{} ({}){}\n", title, unit, apart ? ", each within" + widest + " or less" : "");
  std::string table = aligned(cells, 1), line;
  for (char c : table) {
    if (line.empty()) line = "  ";
    line += c;
    if (c != '\n') continue;
    text += line;
    line.clear();
  }
  return text;
}

std::string matrices_text(const SurveySummary& summary) {
  std::string text;
  const FactList latency = with_key(summary, "matrix_latency");
  const FactList reads = with_key(summary, "matrix_bandwidth");
  if (latency.size() == 1 && reads.size() == 1) {
    return paragraph("Node", fmt::format("memory latency {} (one CPU alone), read bandwidth {} "
                                         "(all its CPUs together)",
                                         figure(*latency.front()), figure(*reads.front())));
  }
  const bool words = latency.size() > most_nodes_shown * most_nodes_shown;
  if (!latency.empty())
    text += matrix_text(latency, words ? "Latency" : "Memory latency, one CPU alone", "ns");
  if (!reads.empty())
    text += matrix_text(reads, words ? "Reads" : "Read bandwidth, all CPUs of the node", "GB/s");
  return text;
}

std::string caches_text(const SurveySummary& summary) {
  std::vector<std::string> parts;
  for (const SurveyFact* fact : with_key(summary, "cache_latency"))
    parts.push_back(where_of(*fact, "level") + " " + figure(*fact));
  for (const SurveyFact* fact : with_key(summary, "memory_latency")) {
    const std::string pages = where_of(*fact, "pages");
    const std::string size = compact_text(Bytes{std::stoull(where_of(*fact, "size"))});
    parts.push_back(fmt::format("memory {} ({}, {} pages)", figure(*fact), size, pages));
  }
  if (parts.empty()) return "";
  return paragraph(
      "Latency", fmt::format("{}; one load after another, one CPU alone", fmt::join(parts, ", ")));
}

std::string peak_text(const SurveySummary& summary) {
  std::vector<std::string> parts;
  for (const char* key : {"peak_bandwidth", "one_cpu_bandwidth"}) {
    for (const SurveyFact* fact : with_key(summary, key))
      parts.push_back(fmt::format("{} ({})", figure(*fact), fact->words));
  }
  const char* const label = with_key(summary, "peak_bandwidth").empty() ? "Bandwidth" : "Peak";
  return parts.empty() ? "" : paragraph(label, fmt::format("{}", fmt::join(parts, "; ")));
}

std::string loaded_text(const SurveySummary& summary) {
  const FactList idle = with_key(summary, "loaded_latency_idle");
  // One node's curve, and how many more there are: all are in the files.
  const auto of_node = [&](const char* key, const std::string& node) {
    for (const SurveyFact* fact : with_key(summary, key)) {
      if (where_of(*fact, "cpu_node") == node) return fact;
    }
    return static_cast<const SurveyFact*>(nullptr);
  };
  if (idle.empty()) return "";
  const std::string node = where_of(*idle.front(), "cpu_node");
  std::string words = fmt::format("node {}: {} idle", node, figure(*idle.front()));
  if (const auto* half = of_node("loaded_latency_half", node))
    words += fmt::format(", {} at half of the peak", figure(*half));
  if (const auto* peak = of_node("loaded_latency_peak", node)) {
    words += fmt::format(", {} at the peak", figure(*peak));
    if (const auto* rate = of_node("loaded_bandwidth_peak", node))
      words += fmt::format(" ({} read by the others)", figure(*rate));
  }
  if (idle.size() > 1)
    words += fmt::format("; {} in loaded.txt", count_text(idle.size() - 1, "more node"));
  return paragraph("Under load", words);
}

std::string remote_text(const SurveySummary& summary) {
  std::vector<std::string> parts;
  for (const SurveyFact* fact : with_key(summary, "remote_latency_times"))
    parts.push_back(fmt::format("latency {}: from CPUs of node {} to memory of node {}",
                                times_text(*fact), where_of(*fact, "cpu_node"),
                                where_of(*fact, "memory_node")));
  for (const SurveyFact* fact : with_key(summary, "remote_bandwidth_part"))
    parts.push_back(fmt::format("read bandwidth {}: from CPUs of node {} to memory of node {}",
                                times_text(*fact), where_of(*fact, "cpu_node"),
                                where_of(*fact, "memory_node")));
  if (parts.empty()) return "";
  return paragraph("Remote", fmt::format("at worst {}; against the nearest memory of the same CPUs",
                                         fmt::join(parts, "; ")));
}

std::string cores_text_of(const SurveySummary& summary) {
  std::vector<std::string> parts;
  for (const auto& [key, word] :
       {std::pair("hand_over_nearest", "shortest"), std::pair("hand_over_farthest", "longest")}) {
    for (const SurveyFact* fact : with_key(summary, key))
      parts.push_back(fmt::format("{} {} (CPUs {} and {}, {})", word, figure(*fact),
                                  where_of(*fact, "first_cpu"), where_of(*fact, "second_cpu"),
                                  where_of(*fact, "nearness")));
  }
  if (parts.empty()) return "";
  if (parts.size() == 1) parts[0].erase(0, parts[0].find(' ') + 1);
  return paragraph("Core to core",
                   fmt::format("a cache line handed over: {}", fmt::join(parts, ", ")));
}

std::string copies_text(const SurveySummary& summary) {
  const FactList copies = with_key(summary, "copy_rate");
  if (copies.empty()) return "";
  return paragraph("Copies",
                   extremes(copies, "from", "to", "node ", " to node ") + "; bytes counted once");
}

std::string touch_text(const SurveySummary& summary) {
  const FactList facts = with_key(summary, "first_touch_times");
  if (facts.empty()) return "";
  const SurveyFact& fact = *facts.front();
  const std::string between = fmt::format("{}, memory first touched by {}, against its own",
                                          where_of(fact, "used_by"), where_of(fact, "touched_by"));
  const bool told = fact.low && fact.high && (*fact.low > 1 || *fact.high < 1);
  return paragraph("First touch", told ? fmt::format("at worst {} as long an access: {}",
                                                     times_text(fact), between)
                                       : fmt::format("no difference that can be told: at worst {}, "
                                                     "{}",
                                                     times_text(fact), between));
}

std::string weights_text(const SurveySummary& summary) {
  const FactList best = with_key(summary, "weights_bandwidth");
  if (best.empty()) return "";
  const FactList times = with_key(summary, "weights_times");
  std::string words = fmt::format("weights {} give {} of {}", where_of(*best.front(), "weights"),
                                  figure(*best.front()), where_of(*best.front(), "kernel"));
  const std::string cpu_nodes = where_of(*best.front(), "cpu_nodes");
  if (!cpu_nodes.empty()) {
    const bool several = cpu_nodes.find_first_of(",-") != std::string::npos;
    words += fmt::format(" by the CPUs of node{} {}", several ? "s" : "", cpu_nodes);
  }
  if (!times.empty() && times[0]->high && *times[0]->high < 1)
    return paragraph("Interleave",
                     fmt::format("no weights are as fast as each CPU's nearest node alone: {}, {} "
                                 "that",
                                 words, times_text(*times[0])));
  if (!times.empty())
    words += fmt::format(", {} the bandwidth of the nearest node alone", times_text(*times[0]));
  return paragraph("Interleave", words);
}

/// A line a GPU: its best place for each direction.
std::string gpus_text(const SurveySummary& summary) {
  std::string text;
  const FactList rates = with_key(summary, "gpu_copy_rate");
  const std::vector<std::string> gpus = different(rates, "gpu");
  constexpr std::size_t most_gpus = 4;
  for (std::size_t i = 0; i < gpus.size() && i < most_gpus; ++i) {
    std::vector<std::string> parts;
    for (const auto& [direction, words] :
         {std::pair("h2d", "to it"), std::pair("d2h", "from it"), std::pair("both", "both ways")}) {
      const SurveyFact* best = nullptr;
      for (const SurveyFact* fact : rates) {
        if (where_of(*fact, "gpu") == gpus[i] && where_of(*fact, "direction") == direction &&
            (best == nullptr || fact->value > best->value))
          best = fact;
      }
      if (best == nullptr) continue;
      const std::string memory = where_of(*best, "memory");
      parts.push_back(
          fmt::format("{} {} ({})", words, figure(*best),
                      memory.starts_with("bind:") ? "node " + memory.substr(5) : memory));
    }
    for (const SurveyFact* fact : with_key(summary, "gpu_latency")) {
      if (where_of(*fact, "gpu") != gpus[i]) continue;
      const std::string memory = where_of(*fact, "memory");
      parts.push_back(fmt::format("a load from memory of {} {}",
                                  memory.starts_with("bind:") ? "node " + memory.substr(5) : memory,
                                  figure(*fact)));
      break;
    }
    text += paragraph("GPU " + gpus[i],
                      fmt::format("copies from the best node: {}", fmt::join(parts, ", ")));
  }
  if (gpus.size() > most_gpus)
    text += paragraph("", count_text(gpus.size() - most_gpus, "more GPU") + " in transfer.txt");
  for (const SurveyFact* fact : with_key(summary, "gpu_peer_rate")) {
    text += paragraph("GPUs", fmt::format("{} {}", fact->words, figure(*fact)));
    break;
  }
  return text;
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
  for (const auto& section : {matrices_text, remote_text, caches_text, peak_text, loaded_text,
                              cores_text_of, copies_text, touch_text, weights_text, gpus_text})
    text += section(summary);
  if (summary.facts.empty()) text += "There is nothing to sum up.\n";
  text += "\n" + listed("Warnings", summary.warnings, most_warnings, "survey.json");
  std::vector<std::string> skipped;
  for (const SkippedBenchmark& one : frame.skipped)
    skipped.push_back(one.benchmark + ": " + one.reason);
  text += listed("Not measured", skipped, skipped.size(), "");
  text += listed("Notes", frame.notes, frame.notes.size(), "");
  if (!frame.stopped.empty()) text += paragraph("Incomplete", frame.stopped);
  text += listed("Files", frame.files, frame.files.size(), "");
  return text;
}

}  // namespace numatlas

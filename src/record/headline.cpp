#include "record/headline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "record/estimate.h"
#include "record/labels.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// What memory is to the CPUs, and its cells in the order of their values.
using CellClass = std::pair<std::string, FactList>;

std::vector<CellClass> classes_of(FactList cells, const Machine* machine) {
  std::ranges::stable_sort(cells, {}, [](const Fact* cell) { return cell->estimate.value; });
  std::vector<CellClass> classes{{"local", {}}, {"remote", {}}};
  for (const Fact* cell : cells) {
    const std::string name =
        memory_class(machine, where_of(*cell, "cpu_node"), where_of(*cell, "memory_node"));
    auto found = std::ranges::find(classes, name, &CellClass::first);
    if (found == classes.end()) found = classes.insert(found, {name, {}});
    found->second.push_back(cell);
  }
  std::erase_if(classes, [](const CellClass& one) { return one.second.empty(); });
  return classes;
}

std::string without_sizes_and_pages(const std::string& heading) {
  std::string kept;
  for (std::size_t at = 0; at < heading.size();) {
    const std::size_t end = std::min(heading.find(", ", at), heading.size());
    const std::string part = heading.substr(at, end - at);
    const bool of_memory =
        std::isdigit(static_cast<unsigned char>(part[0])) || part.ends_with(" pages");
    if (kept.empty() || !of_memory) kept += (kept.empty() ? "" : ", ") + part;
    at = end + 2;
  }
  return kept;
}

/// The line beside its figure; with the figure where words go on after it: "node 0: 94.5 ns idle".
/// What it is of stands in brackets, of which the first words are told.
std::string brief_line(const std::string& line, const std::string& figure) {
  const std::size_t at = line.find("{}");
  const std::string before = line.substr(0, at), after = line.substr(at + 2);
  const bool goes_on = !before.empty() && after.size() > 1 && after[0] == ' ' &&
                       std::isalnum(static_cast<unsigned char>(after[1]));
  std::string text = goes_on ? before + figure + after : before + std::string(trim(after));
  const std::size_t open = text.rfind('('), comma = text.find(',', std::min(open, text.size()));
  if (comma != text.npos) text.erase(comma, text.find(')', comma) - comma);
  text = trim(text);
  return open == 0 && text.ends_with(')') ? text.substr(1, text.size() - 2) : text;
}

void put_in_front(Headline& one, const Fact& fact) {
  one.key = fact.key;
  one.name = fact.key;
  std::ranges::replace(one.name, '_', ' ');
  for (const char* label : {"gpu", "level"})
    if (const std::string text = where_of(fact, label); !text.empty())
      one.name += fmt::format(", {} {}", label, text);
  one.where = fact.words;
  one.unit = fact.unit;
  one.estimate = fact.estimate;
  std::tie(one.text, one.spread) = figure_parts(fact);
  one.claim = claim_text(fact);
}

Headline headline_of(const Heading& heading, const Machine* machine) {
  Headline one;
  one.heading = heading.words;
  one.head = without_sizes_and_pages(heading.words);
  FactList facts = heading.facts;
  if (facts.front()->line.empty()) {
    const FactList mine = classes_of(facts, machine).front().second;
    put_in_front(one, *mine[(mine.size() - 1) / 2]);
    if (facts.size() > 1) one.brief = one.beside = cells_text(facts, machine);
    return one;
  }
  constexpr std::array<std::string_view, 2> in_front{"memory_latency", "loaded_latency_peak"};
  std::stable_partition(facts.begin(), facts.end(), [&](const Fact* fact) {
    return std::ranges::find(in_front, fact->key) != in_front.end();
  });
  put_in_front(one, *facts.front());
  std::vector<std::string> others, brief{brief_line(facts.front()->line, one.text)};
  for (const Fact* fact : std::span(facts).subspan(1)) {
    others.push_back(line_text(*fact));
    if (fact->key.find("knee") != std::string::npos) brief.push_back(others.back());
  }
  one.beside = fmt::format("{}", fmt::join(others, "; "));
  one.brief = brief.front().empty() ? one.beside : fmt::format("{}", fmt::join(brief, "; "));
  return one;
}

}  // namespace

bool has_star(const Fact& fact) {
  return fact.unit.is_time_or_rate() && is_of_few_visits(fact.estimate);
}

std::string star_words() { return fmt::format("* fewer than {} visits", least_visits); }

std::string star_note() {
  return star_words() + ": the interval does not cover changes between visits";
}

std::pair<std::string, std::string> figure_parts(const Fact& fact) {
  std::string value = value_text(fact.estimate, fact.unit),
              spread = spread_text(fact.estimate, fact.unit);
  if (has_star(fact) && !is_unknown(fact.estimate) && half_width(fact.estimate))
    (spread.empty() ? value : spread) += "*";
  return {value, spread};
}

std::string figure_text(const Fact& fact) {
  const auto [value, spread] = figure_parts(fact);
  return value + (spread.empty() ? "" : " ") + spread;
}

std::string claim_text(const Fact& fact) {
  const Estimate& estimate = fact.estimate;
  std::vector<std::string> parts{figure_parts(fact).first, fact.words};
  // Of others the figure itself has both ends.
  if (estimate.low && fact.unit.is_time_or_rate() && !is_wide(estimate))
    parts.push_back(fmt::format("95 % interval {} to {}", quantity_text(*estimate.low, fact.unit),
                                quantity_text(*estimate.high, fact.unit)));
  if (is_of_few_visits(estimate))
    parts.push_back("of too few visits to cover changes between them");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string line_text(const Fact& fact) {
  const std::size_t at = fact.line.find("{}");
  return at == std::string::npos ? figure_text(fact)
                                 : std::string(fact.line).replace(at, 2, figure_text(fact));
}

std::string span_text(const std::vector<Estimate>& values, Unit unit) {
  const auto by_value = [](const Estimate& one) { return one.value; };
  const Estimate& least = *std::ranges::min_element(values, {}, by_value);
  const Estimate& most = *std::ranges::max_element(values, {}, by_value);
  if (values.size() == 1) return estimate_text(least, unit);
  const Reading reading = reading_of(most.value, unit);
  const std::string low = three_digits(least.value * reading.scale),
                    high = three_digits(most.value * reading.scale);
  return (low == high ? low : low + " to " + high) + reading.unit;
}

std::string cells_text(const FactList& cells, const Machine* machine) {
  const std::vector<CellClass> classes = classes_of(cells, machine);
  std::vector<std::string> texts;
  for (const auto& [name, mine] : classes) {
    std::vector<Estimate> values;
    for (const Fact* cell : mine) values.push_back(cell->estimate);
    texts.push_back((classes.size() > 1 ? name + " " : "") +
                    span_text(values, cells.front()->unit));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Heading> headings_in(const FactList& facts) {
  std::vector<Heading> headings;
  for (const Fact* fact : facts) {
    const bool is_shown = fact->line.empty() || fact->line.find("{}") != std::string::npos;
    const bool unknown = is_unknown(fact->estimate);
    if (fact->heading.empty() || !is_shown || (unknown && fact->unit == "B")) continue;
    auto found = std::ranges::find(headings, fact->heading, &Heading::words);
    if (found == headings.end()) found = headings.insert(found, {fact->heading, {}});
    FactList& its = found->facts;
    if (its.size() == 1 && is_unknown(its.front()->estimate) && !unknown) its.clear();
    if (!unknown || its.empty()) its.push_back(fact);
  }
  return headings;
}

std::string label_of_heading(const std::string& heading) {
  return heading.substr(0, heading.find(", "));
}

std::vector<Headline> headlines_of(std::span<const RunReport> reports, bool unreliable) {
  const Machine* machine = nullptr;
  FactList facts;
  std::set<std::string> doubted;  // headings
  for (const RunReport& report : reports) {
    if (!report.machines.empty()) machine = &report.machines.front();
    for (const Fact& fact : report.facts) {
      facts.push_back(&fact);
      if (unreliable || report.trust == "unreliable") doubted.insert(fact.heading);
    }
  }
  std::vector<Headline> found;
  for (const Heading& heading : headings_in(facts)) {
    found.push_back(headline_of(heading, machine));
    found.back().doubted = doubted.contains(heading.words) || is_unknown(found.back().estimate);
  }
  return found;
}

}  // namespace numatlas

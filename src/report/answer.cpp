#include "report/answer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.h"
#include "report/fact_text.h"
#include "report/notes.h"

namespace numatlas {
namespace {

/// Facts of one heading that the answer has, at most.
constexpr std::size_t most_facts = 3;
/// The code of the warning that makes a run unreliable.
constexpr const char* other_processes = "other-processes";

/// "123 to 338 ns"
std::string span_text(const std::vector<const Fact*>& cells) {
  const auto by_value = [](const Fact* one) { return one->estimate.value; };
  const Fact* const least = *std::ranges::min_element(cells, {}, by_value);
  const Fact* const most = *std::ranges::max_element(cells, {}, by_value);
  if (cells.size() == 1) return figure_text(*least);
  const Reading reading = reading_of(most->estimate.value, most->unit);
  return fmt::format("{} to {}{}", three_digits(least->estimate.value * reading.scale),
                     three_digits(most->estimate.value * reading.scale), reading.unit);
}

std::string heading_text(const RunReport& report, const std::string& heading) {
  std::vector<const Fact*> cells;
  std::vector<std::string> texts;
  for (const Fact& fact : report.facts) {
    if (fact.heading != heading) continue;
    const std::size_t place = fact.line.find("{}");
    if (place == std::string::npos)
      cells.push_back(&fact);
    else if (texts.size() < most_facts)
      texts.push_back(std::string(fact.line).replace(place, 2, figure_text(fact)));
  }
  if (!cells.empty()) texts = {span_text(cells)};
  return fmt::format("{}: {}", heading, fmt::join(texts, ", "));
}

std::vector<std::string> headings_of(const RunReport& report) {
  std::vector<std::string> headings;
  for (const Fact& fact : report.facts)
    if (!fact.heading.empty() && std::ranges::find(headings, fact.heading) == headings.end())
      headings.push_back(fact.heading);
  return headings;
}

const Warning* find_warning(const RunReport& report, const char* code) {
  const auto found = std::ranges::find(report.warnings, code, &Warning::code);
  return found == report.warnings.end() ? nullptr : &*found;
}

/// The gravest matter that the figures have to be read with; "" for none.
std::string doubt_of(const RunReport& report) {
  const auto is_lost = [](const ScenarioResult& one) {
    return one.status == Status::failed || one.status == Status::incomplete;
  };
  const auto lost = std::ranges::find_if(report.scenarios, is_lost);
  if (lost != report.scenarios.end())
    return fmt::format("{} of {}: {}: {}", std::ranges::count_if(report.scenarios, is_lost),
                       count_text(report.scenarios.size(), "case"), name_of(lost->status),
                       lost->reason);
  for (const char* code : {"two-speeds", "oversubscribed", "low-overlap", "gpu-slowed", "page-size",
                           "placement", "pages-moved"})
    if (const Warning* const found = find_warning(report, code)) return full_text(*found);
  return is_null_engine(report.engine) ? "" : guest_note(report.machines);
}

std::string gravest_doubt(const RunReport& report) {
  const std::string doubt = doubt_of(report);
  return doubt.empty() && std::ranges::any_of(report.facts, has_star) ? star_note() : doubt;
}

}  // namespace

Trust trust_of(const std::vector<RunReport>& reports) {
  if (reports.empty() || is_null_engine(reports.front().engine)) return {};
  for (const RunReport& report : reports)
    if (const Warning* const others = find_warning(report, other_processes))
      return {"unreliable", full_text(*others)};
  for (const RunReport& report : reports) {
    std::string doubt = gravest_doubt(report);
    if (doubt.starts_with("* ")) doubt.erase(0, 2);  // there is no star to explain
    if (!doubt.empty()) return {"doubtful", doubt};
  }
  return {"trusted", ""};
}

std::string answer_text(const RunReport& report) {
  std::string figures;
  for (const std::string& heading : headings_of(report)) {
    const std::string text = heading_text(report, heading);
    constexpr std::size_t widest = 100;
    if (!figures.empty() && figures.size() + text.size() > widest) break;
    figures += (figures.empty() ? "" : "; ") + text;
  }
  if (figures.empty()) return "";
  if (const Warning* const others = find_warning(report, other_processes))
    return fmt::format("UNRELIABLE: {}\n({})\n", full_text(*others), figures);
  const std::string doubt = gravest_doubt(report);
  return figures + "\n" + (doubt.empty() ? "" : (doubt.front() == '*' ? "" : "! ") + doubt + "\n");
}

}  // namespace numatlas

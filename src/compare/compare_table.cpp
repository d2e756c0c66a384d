#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/count_text.h"
#include "base/text.h"
#include "compare/compare_output.h"
#include "machine/identity.h"

namespace numatlas {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// More rows than this are not read: those without a difference are counted only.
constexpr std::size_t most_same_rows = 40;
constexpr std::size_t most_named = 4;    // of cases that only one file has
constexpr std::size_t widest_fact = 60;  // of what differs; --format json has all

std::string percent_text(const std::optional<double>& part) {
  if (!part) return "-";
  const double percent = *part * 100;
  // "-0.0 %" says nothing.
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

std::string range_text(const Change& change) {
  if (!change.low) return "-";
  const std::string range =
      fmt::format("{} .. {}", percent_text(change.low), percent_text(change.high));
  // The interval is of this change alone; the verdict holds together with those of all cases.
  return change.chance_among == 0
             ? range
             : fmt::format("{}; may be chance, 1 of {} cases", range, change.chance_among);
}

/// Marked where something else may have made the difference.
std::string verdict_text(const Change& change) {
  return std::string(name_of(change.verdict)) + (change.doubt.empty() ? "" : " *");
}

/// What the marks mean: each doubt once.
std::string doubts_text(const std::set<std::string>& doubts) {
  std::string text;
  for (const std::string& doubt : doubts)
    text += fmt::format("* {}: the difference may come from that\n", doubt);
  return text;
}

std::string value_text(const StoredFigure& figure, const std::string& unit) {
  return figure.value ? quantity_text(*figure.value, unit) : "-";
}

bool is_shown(const CompareView& view, const Change& change, std::size_t same) {
  if (!view.only.empty()) return view.only.contains(change.verdict);
  const bool dull = change.verdict == CaseVerdict::same ||
                    (change.verdict == CaseVerdict::not_distinguishable && !change.explained);
  return !dull || same <= most_same_rows;
}

std::string cut(const std::string& text) {
  return text.size() <= widest_fact ? text : text.substr(0, widest_fact - 3) + "...";
}

/// Two long texts, as far as they differ.
std::pair<std::string, std::string> cut_pair(const std::string& a, const std::string& b) {
  if (a.size() <= widest_fact && b.size() <= widest_fact) return {a, b};
  auto same = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                       a.begin());
  while (same > 0 && a[same - 1] != ' ') --same;  // whole words
  if (same == 0) return {cut(a), cut(b)};
  return {cut("... " + a.substr(same)), cut("... " + b.substr(same))};
}

std::string case_name(const StoredCase& one, bool with_command) {
  return (with_command ? one.command + ": " : "") + one.point;
}

/// Sides that were matched by their order may have other names.
std::string names_text(const ComparedCase& one, bool with_command) {
  if (one.base.is_empty_point()) return case_name(one.now, with_command);
  const std::string name = case_name(one.base, with_command);
  if (one.now.point == one.base.point || one.now.is_empty_point()) return name;
  return name + " -> " + one.now.point;
}

std::string differences_text(const std::vector<Difference>& differences) {
  if (differences.empty()) return "\nNo known difference between machines and options\n";
  Rows rows{{"what differs", "BASE", "NEW"}};
  for (const Difference& one : differences) {
    const std::string hosts = one.hosts.empty() ? "" : cut(one.hosts) + ": ";
    const auto [base, now] = cut_pair(one.base.value_or("unknown"), one.now.value_or("unknown"));
    rows.push_back({hosts + one.what, base, now});
  }
  std::string text = "\n" + aligned(rows, 3);
  for (const Difference& one : differences)
    if (!one.warning.empty()) text += fmt::format("warning: {}: {}\n", one.what, one.warning);
  return text;
}

/// What no interval of a single run knows.
std::string guest_text(const StoredFile& base, const StoredFile& now) {
  for (const StoredFile* file : {&base, &now})
    for (const StoredRun& run : file->runs)
      for (const Machine& machine : run.machines)
        if (is_virtual(machine))
          return "warning: a virtual machine: how its launches differ is unknown, so one launch a "
                 "side has no verdict of its own; --run measures both sides in turn\n";
  return "";
}

std::string head_line(const char* side, const StoredFile& file, const CompareRule& rule) {
  // A command that was measured here says itself what it is.
  std::string text = rule.in_pairs
                         ? fmt::format("{:<4}  {}", side, file.file)
                         : fmt::format("{:<4}  {}: numatlas {}", side, file.file, file.command);
  if (file.runs.empty()) return text + "\n";
  const StoredRun& run = file.runs.front();
  return text +
         fmt::format(", {}, {}, version {}\n", fmt::join(run.hosts, " "), run.started, run.version);
}

std::string only_text(const char* side, const std::vector<StoredCase>& cases, bool with_command) {
  if (cases.empty()) return "";
  std::vector<std::string> names;
  for (const StoredCase& one : cases) add_once(names, case_name(one, with_command));
  const std::size_t more = names.size() > most_named ? names.size() - most_named : 0;
  names.resize(names.size() - more);
  return fmt::format("only in {}: {}{}\n", side, fmt::join(names, "; "),
                     more > 0 ? fmt::format("; and {} more", more) : "");
}

using Counts = std::map<CaseVerdict, std::size_t>;

/// "2 faster, 1 slower, 40 same, 3 not distinguishable, 2 not comparable"
std::string counts_text(Counts counts) {
  std::vector<std::string> parts;
  for (const CaseVerdict verdict : {CaseVerdict::faster, CaseVerdict::slower, CaseVerdict::same,
                                    CaseVerdict::not_distinguishable, CaseVerdict::not_comparable})
    parts.push_back(fmt::format("{} {}", counts[verdict], name_of(verdict)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Counts counts_of(const Comparison& found) {
  Counts counts;
  for (const ComparedCase& one : found.cases) ++counts[one.change.verdict];
  return counts;
}

std::string launches_text(const ComparedFiles& files, const CompareRule& rule) {
  if (rule.in_pairs)
    return fmt::format(
        "both sides were measured in turn, {} times each: Student's t over the pairs",
        files.base_launches);
  if (files.base_launches > 1 && files.now_launches > 1)
    return fmt::format("Student's t over {} and {} launches", files.base_launches,
                       files.now_launches);
  const bool pilots = std::ranges::any_of(files.comparison.cases, [](const ComparedCase& one) {
    return one.change.relative.has_value();
  });
  const auto known = [](const ComparedCase& one) {
    return one.base.figure.launch_spread && one.now.figure.launch_spread;
  };
  const auto& cases = files.comparison.cases;
  const std::string from =
      files.launches_from.empty()
          ? ""
          : fmt::format("as the launches below {} show for {} of {} cases; for others, ",
                        files.launches_from, std::ranges::count_if(cases, known), cases.size());
  if (std::ranges::any_of(cases, [](const ComparedCase& one) { return one.change.guest; }))
    return "Student's t over the visits; how launches on a virtual machine differ is unknown "
           "(--launch-spread)";
  return fmt::format(
      "Student's t over the visits{}; of a single launch, a deviation from launch to launch is "
      "assumed: {}{:g} % (--launch-spread)",
      pilots ? ", and over the visits relative to the pilots: both have to show the change" : "",
      from, rule.launch_spread_taken() * 100);
}

/// How a verdict between files is made, and what to do where there is none.
std::string judged_text(const ComparedFiles& files, const CompareRule& rule) {
  std::string text = fmt::format(
      "faster, slower: a change of {:g} % or more, with a 5 % risk of any false verdict (Holm's "
      "procedure)\n"
      "same: the whole interval of the change is within {:g} %\n{}\n",
      rule.min_effect * 100, rule.min_effect * 100, launches_text(files, rule));
  if (files.comparison.count(CaseVerdict::not_distinguishable) == 0) return text;
  if (rule.in_pairs) return text + "not distinguishable: more pairs may help (--pairs)\n";
  if (files.base_launches > 1 && files.now_launches > 1)
    return text + "not distinguishable: more launches may help\n";
  return text +
         "not distinguishable from one launch each: give several files (--base, --new), or measure "
         "both in turn (--run)\n";
}

std::string hidden_text(std::size_t hidden) {
  return hidden == 0
             ? ""
             : fmt::format("{} without a difference are not shown: --format json has them\n",
                           hidden);
}

}  // namespace

std::string answer_of(const Comparison& found) {
  const auto named = [&](CaseVerdict verdict) {
    std::vector<const ComparedCase*> cases;
    for (const ComparedCase& one : found.cases)
      if (one.change.verdict == verdict) cases.push_back(&one);
    std::ranges::stable_sort(cases, std::greater<>(), [](const ComparedCase* one) {
      return std::abs(one->change.part.value_or(0));
    });
    std::vector<std::string> texts;
    for (const ComparedCase* one : cases)
      add_once(texts, one->base.point + " " + percent_text(one->change.part));
    return texts.empty() ? "" : fmt::format(" ({})", numatlas::names_text(texts));
  };
  const Counts counts = counts_of(found);
  const auto of = [&](CaseVerdict verdict) {
    const auto count = counts.find(verdict);
    return count == counts.end() ? std::size_t{0} : count->second;
  };
  using enum CaseVerdict;
  const std::size_t all = found.cases.size();
  std::string text;
  if (of(slower) > 0)
    text = fmt::format("SLOWER {} of {}{}; {} faster", of(slower), all, named(slower), of(faster));
  else if (of(faster) > 0)
    text = fmt::format("FASTER {} of {}{}; 0 slower", of(faster), all, named(faster));
  else if (of(same) == all)
    text = fmt::format("SAME: {}", count_text(all, "case"));
  else
    text = fmt::format("NO CHANGE SEEN in {}", count_text(all, "case"));
  if (of(same) > 0 && of(same) < all) text += fmt::format(", {} same", of(same));
  const std::size_t open = of(not_distinguishable) + of(not_comparable);
  return open == 0 ? text : text + fmt::format(", {} undecided", open);
}

std::string compare_table(const ComparedFiles& files, const CompareView& view) {
  const Comparison& found = files.comparison;
  const bool with_command = files.base.runs.size() > 1 || files.now.runs.size() > 1;
  const std::size_t same =
      found.count(CaseVerdict::same) + found.count(CaseVerdict::not_distinguishable);
  std::string text = answer_of(found) + "\n\n" + head_line("BASE", files.base, view.rule) +
                     head_line("NEW", files.now, view.rule);
  text += differences_text(files.differences);
  if (!view.rule.in_pairs) text += guest_text(files.base, files.now);
  text += "\n";
  Rows rows{{"verdict", "case", "of", "metric", "BASE", "NEW", "change", "95 % CI"}};
  bool any_reason = false;
  std::size_t hidden = 0;
  std::set<std::string> doubts;
  const auto add_row = [&](const ComparedCase& one) {
    if (!is_shown(view, one.change, same)) {
      hidden += view.only.empty() ? 1 : 0;
      return;
    }
    const StoredCase& named = one.base.is_empty_point() ? one.now : one.base;
    rows.push_back({verdict_text(one.change), names_text(one, with_command), named.part,
                    named.metric.empty() ? "-" : named.metric,
                    value_text(one.base.figure, named.unit), value_text(one.now.figure, named.unit),
                    percent_text(one.change.part),
                    one.change.reason.empty() ? range_text(one.change) : one.change.reason});
    any_reason = any_reason || !one.change.reason.empty();
    if (!one.change.doubt.empty()) doubts.insert(one.change.doubt);
  };
  for (const ComparedCase& one : found.cases) add_row(one);
  for (const ComparedCase& one : found.machine) add_row(one);
  if (any_reason) rows.front().back() = "95 % CI, or the reason";
  if (rows.size() > 1) text += aligned(rows, 4) + "\n";
  text += doubts_text(doubts) + hidden_text(hidden);
  text += only_text("BASE", found.only_base, with_command) +
          only_text("NEW", found.only_now, with_command);
  for (const StoredFile* file : {&files.base, &files.now})
    for (const std::string& note : file->notes) text += "note: " + note + "\n";
  text += judged_text(files, view.rule);
  text += counts_text(counts_of(found));
  if (!found.only_base.empty()) text += fmt::format("; {} only in BASE", found.only_base.size());
  if (!found.only_now.empty()) text += fmt::format("; {} only in NEW", found.only_now.size());
  return text + "\n";
}

}  // namespace numatlas

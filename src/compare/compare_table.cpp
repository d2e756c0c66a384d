#include <algorithm>
#include <cmath>
#include <cstddef>
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
#include "fleet/slow_nodes.h"
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
                 "side has no verdict of its own; --run measures both sides in turn, --history "
                 "compares with many runs\n";
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

std::string rule_text(const CompareRule& rule) {
  return fmt::format(
      "faster, slower: the intervals do not overlap, and the change is {:g} % or more\n",
      rule.min_effect * 100);
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

/// The rows of a host that is slow among its peers: the worst ones.
void add_slow_rows(Rows& rows, const RunSeries& group, const StoredRun& run) {
  constexpr std::size_t most = 5;
  const std::vector<SlowCase>& slow = group.verdict.slow;
  for (std::size_t i = 0; i < std::min(slow.size(), most); ++i) {
    const StoredCase& one = run.cases[slow[i].index];
    rows.push_back(
        {hosts_text(group), group.command, one.point, one.part, one.metric,
         value_text(one.figure, one.unit),
         fmt::format("{} ({} hosts)", quantity_text(slow[i].median, one.unit), slow[i].peers),
         percent_text(slow[i].part), fmt::format("{:.1f}", slow[i].mads)});
  }
  if (slow.size() > most)
    rows.push_back({hosts_text(group), group.command,
                    fmt::format("and {} more", slow.size() - most), "", "", "", "", "", ""});
}

/// Hosts that have no verdict, by reason: a thousand hosts mostly have one reason.
std::string not_judged_text(const std::vector<RunSeries>& groups) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const RunSeries& group : groups)
    if (!group.verdict.not_judged.empty())
      by_reason[fmt::format("numatlas {}: {}", group.command, group.verdict.not_judged)].push_back(
          hosts_text(group));
  std::string text;
  for (const auto& [reason, hosts] : by_reason)
    text += fmt::format("not judged: {}: {}\n", numatlas::names_text(hosts), reason);
  return text;
}

std::string hosts_table(const ComparedRuns& runs) {
  const std::vector<RunSeries>& groups = runs.groups;
  std::size_t hosts = 0, slow = 0;
  Rows rows{{"host", "command", "case", "of", "metric", "value", "median", "change", "MAD"}};
  for (const RunSeries& group : groups) {
    hosts += group.verdict.compared > 0 ? 1 : 0;
    slow += group.verdict.slow.empty() ? 0 : 1;
    if (!group.verdict.slow.empty()) add_slow_rows(rows, group, runs.runs[group.newest]);
  }
  std::string text;
  if (hosts > 0) {
    const SlowRule rule;
    text = fmt::format("\nHosts against each other, by the newest run of each: {}\n",
                       slow == 0 ? "none is slow" : fmt::format("{} of {} slow", slow, hosts));
    text += fmt::format("(slow: over {:g} % and {:g} MAD worse than the median of its kind)\n",
                        rule.drop * 100, rule.mads);
    if (rows.size() > 1) text += aligned(rows, 5);
  }
  const std::string reasons = not_judged_text(groups);
  return reasons.empty() ? text : text + "\n" + reasons;
}

std::string runs_counts(const std::vector<RunSeries>& groups) {
  Counts counts;
  std::size_t before = 0;  // steps that an earlier run made
  for (const RunSeries& group : groups) {
    for (const CaseSeries& one : group.cases) {
      ++counts[one.change.verdict];
      before += one.step && *one.step + 1 < one.points.size() ? 1 : 0;
    }
  }
  std::string text = counts_text(counts);
  if (before > 0) text += fmt::format("; {} stepped before the newest run", before);
  const HostCounts hosts = count_hosts(groups);
  return text + fmt::format("\nhosts, one for each command: {} judged, {} slow, {} not judged",
                            hosts.judged, hosts.slow, hosts.not_judged);
}

std::string step_text(const RunSeries& group, const CaseSeries& one) {
  if (!one.step) return "-";
  const RunSeries::Run& run = group.runs[one.points[*one.step].run];
  return fmt::format("{} at {} ({})", percent_text(one.step_change.part), run.started, run.file);
}

std::string group_table(const RunSeries& group, const CompareView& view) {
  std::string text =
      fmt::format("\nnumatlas {} on {}: ", group.command, fmt::join(group.hosts, " "));
  if (group.runs.size() < 2)
    return text + fmt::format("one run, {} ({})\n", group.runs[0].started, group.runs[0].file);
  text +=
      fmt::format("{} runs, {} to {}\nnewest: {}\n", group.runs.size(), group.runs.front().started,
                  group.runs.back().started, group.runs.back().file);
  const auto same = static_cast<std::size_t>(std::ranges::count_if(
      group.cases, [](const CaseSeries& one) { return one.change.verdict == CaseVerdict::same; }));
  Rows rows{{"verdict", "case", "of", "metric", "earlier runs", "their median", "newest", "change",
             "95 % CI", "step"}};
  std::size_t hidden = 0;
  std::set<std::string> doubts;
  for (const CaseSeries& one : group.cases) {
    const bool stepped = view.only.empty() && one.step;
    if (!stepped && !is_shown(view, one.change, same)) {
      hidden += one.change.verdict == CaseVerdict::same && view.only.empty() ? 1 : 0;
      continue;
    }
    const std::string step = one.change.reason.empty() ? step_text(group, one) : one.change.reason;
    rows.push_back({verdict_text(one.change), one.newest.point, one.newest.part, one.newest.metric,
                    std::to_string(one.points.empty() ? 0 : one.points.size() - 1),
                    value_text(one.earlier, one.newest.unit),
                    value_text(one.newest.figure, one.newest.unit), percent_text(one.change.part),
                    range_text(one.change), step});
    if (!one.change.doubt.empty()) doubts.insert(one.change.doubt);
  }
  if (rows.size() > 1) text += aligned(rows, 4);
  return text + doubts_text(doubts) + hidden_text(hidden);
}

/// Groups of one run have nothing to show: of many, a line for each command.
std::string groups_table(const std::vector<RunSeries>& groups, const CompareView& view) {
  std::map<std::string, std::vector<std::string>> lone;
  for (const RunSeries& group : groups)
    if (group.runs.size() == 1) lone[group.command].push_back(hosts_text(group));
  std::string text;
  for (const RunSeries& group : groups)
    if (group.runs.size() > 1 || lone[group.command].size() == 1) text += group_table(group, view);
  for (const auto& [command, hosts] : lone)
    if (hosts.size() > 1)
      text += fmt::format("\nnumatlas {}: one run on each of {}\n", command,
                          numatlas::names_text(hosts));
  return text;
}

}  // namespace

std::string quantity_text(double value, const std::string& unit) {
  struct Scale {
    double least;
    const char* prefix;
  };
  const auto with = [&](std::initializer_list<Scale> scales) {
    for (const Scale& scale : scales)
      if (std::abs(value) >= scale.least)
        return fmt::format("{:.2f} {}{}", value / scale.least, scale.prefix, unit);
    const Scale& last = *(scales.end() - 1);
    return fmt::format("{:.2f} {}{}", value / last.least, last.prefix, unit);
  };
  // Latencies stay in ns up to where nobody compares them with a cache's.
  if (unit == "s") {
    if (std::abs(value) < 1e-5) return with({{1e-9, "n"}});
    return with({{1, ""}, {1e-3, "m"}, {1e-6, "u"}});
  }
  if (unit == "B/s") return with({{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
  if (unit == "1/s") return with({{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
  return unit == "1" ? fmt::format("{:.3f}", value) : fmt::format("{:g} {}", value, unit);
}

std::string compare_table(const ComparedFiles& files, const CompareView& view) {
  const Comparison& found = files.comparison;
  const bool with_command = files.base.runs.size() > 1 || files.now.runs.size() > 1;
  const std::size_t same =
      found.count(CaseVerdict::same) + found.count(CaseVerdict::not_distinguishable);
  std::string text =
      head_line("BASE", files.base, view.rule) + head_line("NEW", files.now, view.rule);
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

std::string runs_table(const ComparedRuns& runs, const CompareView& view) {
  std::string text = runs.folder.empty()
                         ? fmt::format("Results of {}\n", count_text(runs.runs.size(), "run"))
                         : fmt::format("Results below {}\n", runs.folder);
  text += groups_table(runs.groups, view) + hosts_table(runs);
  text += "\n";
  for (const std::string& note : runs.notes) text += "note: " + note + "\n";
  text +=
      "change: of the newest run against the median of the earlier ones; step: the largest one, "
      "of\n"
      "the medians after it against those before, where the runs on both sides do not overlap\n";
  return text + rule_text(view.rule) + runs_counts(runs.groups) + "\n";
}

}  // namespace numatlas

// A comparison of two sides as the common record.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/version.h"
#include "compare/compare.h"
#include "machine/identity.h"
#include "record/unit.h"
#include "report/answer.h"

namespace numatlas {
namespace {

// More rows than this are not read: those without a difference are counted only.
constexpr std::size_t most_same_rows = 40;
constexpr std::size_t widest_fact = 60;  // of what differs

bool is_by_host(const Comparison& found) {
  return !found.cases.empty() && !found.cases.front().base.on.empty();
}

std::vector<const ComparedCase*> pointers(const Comparison& found) {
  std::vector<const ComparedCase*> all;
  for (const ComparedCase& one : found.cases) all.push_back(&one);
  return all;
}

std::string part_text(const std::optional<double>& part) {
  if (!part) return "-";
  const double percent = *part * 100;
  // "-0.0 %" says nothing.
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
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
    return one.base.launch_spread && one.now.launch_spread;
  };
  const auto& cases = files.comparison.cases;
  if (is_by_host(files.comparison) && std::ranges::any_of(cases, known))
    return "Student's t over the visits; launches differ as much as the changes of the hosts do, "
           "where "
           "six or more have a case";
  if (std::ranges::any_of(cases, [](const ComparedCase& one) { return one.change.guest; }))
    return "Student's t over the visits; how launches on a virtual machine differ is unknown "
           "(--launch-spread)";
  return fmt::format(
      "Student's t over the visits{}; of a single launch, a deviation from launch to launch is "
      "assumed: {:g} % (--launch-spread)",
      pilots ? ", and over the visits relative to the pilots: both have to show the change" : "",
      rule.launch_spread_taken() * 100);
}

/// How a verdict between files is made, and what to do where there is none.
std::vector<std::string> judged_lines(const ComparedFiles& files, const CompareRule& rule) {
  std::vector<std::string> lines{
      fmt::format(
          "faster, slower: a change of {:g} % or more, with a 5 % risk of any false verdict "
          "(Holm's procedure)",
          rule.min_effect * 100),
      fmt::format("same: the whole interval of the change is within {:g} %", rule.min_effect * 100),
      launches_text(files, rule)};
  if (files.comparison.count(CaseVerdict::not_distinguishable) == 0) return lines;
  if (rule.in_pairs)
    lines.emplace_back("not distinguishable: more pairs may help (--pairs)");
  else if (files.base_launches > 1 && files.now_launches > 1)
    lines.emplace_back("not distinguishable: more launches may help");
  else
    lines.emplace_back(
        "not distinguishable from one launch each: give several files (--base, --new), or measure "
        "both in turn (--run)");
  return lines;
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

Case named(std::string name, std::vector<std::pair<std::string, std::string>> labels) {
  Case one;
  one.name = std::move(name);
  one.kernel = "";
  one.labels = std::move(labels);
  return one;
}

/// The cases of a report on a comparison.
class Shown {
 public:
  Shown(const ComparedFiles& files, const CompareView& view, RunReport& report)
      : view_(view), report_(report) {
    const Comparison& found = files.comparison;
    dull_ = found.count(CaseVerdict::same) + found.count(CaseVerdict::not_distinguishable);
    for (const Difference& one : files.differences) add(one);
    for (const ComparedCase& one : found.cases) add(one, "case");
    for (const ComparedCase& one : found.machine) add(one, "machine");
    for (const auto& [side, cases] :
         {std::pair("base", &found.only_base), std::pair("new", &found.only_now)})
      for (const Row& one : *cases)
        report_.cases.push_back(named(one.name, {{"row", "only"},
                                                 {"shown", "no"},
                                                 {"side", side},
                                                 {"host", one.on},
                                                 {"of_command", one.command},
                                                 {"case", one.name},
                                                 {"of", one.of},
                                                 {"metric", one.figure}}));
  }
  std::size_t hidden() const { return hidden_; }

 private:
  void add(const Difference& one) {
    const auto [base, now] = cut_pair(one.base.value_or("unknown"), one.now.value_or("unknown"));
    report_.cases.push_back(named(one.what, {{"row", "difference"},
                                             {"shown", "no"},
                                             {"what", one.what},
                                             {"host", one.hosts},
                                             {"base_is", base},
                                             {"new_is", now}}));
    if (!one.warning.empty()) report_.warnings.push_back({"difference", one.what, one.warning});
  }

  void add(const ComparedCase& one, const char* row) {
    const Change& change = one.change;
    if (!view_.only.empty() && !view_.only.contains(change.verdict)) return;
    const bool dull = change.verdict == CaseVerdict::same ||
                      (change.verdict == CaseVerdict::not_distinguishable && !change.explained);
    const bool shown = !view_.only.empty() || !dull || dull_ <= most_same_rows;
    hidden_ += shown ? 0 : 1;
    const Row& mine = one.base.is_empty() ? one.now : one.base;
    const bool both = !one.base.is_empty() && !one.now.is_empty();
    Case found = named(
        mine.name,
        {{"row", row},
         {"shown", shown ? "yes" : "no"},
         {"verdict", name_of(change.verdict)},
         {"host", mine.on},
         {"of_command", mine.command},
         {"case",
          both && one.now.name != mine.name ? mine.name + " -> " + one.now.name : mine.name},
         {"of", mine.of},
         {"metric", mine.figure},
         {"reason", change.reason},
         {"doubt", change.doubt},
         {"change", part_text(change.part)},
         {"interval",
          change.low ? fmt::format("{} .. {}", part_text(change.low), part_text(change.high)) : ""},
         {"remark", remark_of(change)}});
    Figure part{"change", "1", {}, {}};
    if (change.part) {
      part.estimate = *change.part;
      part.estimate->low = change.low;
      part.estimate->high = change.high ? change.high : change.low ? change.part : std::nullopt;
      if (change.low) part.estimate->method = Method::derived;
    }
    const auto number = [](const char* key, const std::optional<double>& value) {
      return Figure{key, "1", value ? std::optional<Estimate>(*value) : std::nullopt, {}};
    };
    const auto& spread = one.base.launch_spread;
    found.figures = {
        {"base", mine.unit, one.base.estimate, {}},
        {"new", mine.unit, one.now.estimate, {}},
        std::move(part),
        number("p", change.p),
        number("change_relative", change.relative),
        number("launch_spread", spread ? std::optional(spread->deviation()) : std::nullopt)};
    std::erase_if(found.figures, [](const Figure& figure) { return !figure.estimate; });
    report_.cases.push_back(std::move(found));
  }

  /// Marked where something else may have made the difference.
  std::string remark_of(const Change& change) {
    if (!change.doubt.empty())
      add_once(report_.warnings,
               Warning{"doubt", "", change.doubt + ": the difference may come from that"});
    std::string text = change.doubt.empty() ? "" : "*";
    // The interval is of this change alone; the verdict holds together with those of all cases.
    if (change.chance_among > 0)
      text += fmt::format("{}may be chance, 1 of {} cases", text.empty() ? "" : " ",
                          change.chance_among);
    return text;
  }

  const CompareView& view_;
  RunReport& report_;
  std::size_t dull_ = 0, hidden_ = 0;
};

std::vector<View> views_of(const ComparedFiles& files, const CompareView& view,
                           std::size_t hidden) {
  const bool several = std::ranges::any_of(files.base.runs, [&](const Rows& run) {
    return run.command != files.base.runs.front().command;
  });
  View differences, cases;
  differences.title = "What differs beside the figures";
  differences.where = {{"row", "difference"}};
  differences.cells = {label_column("", "what"), label_column("host", "host"),
                       label_column("BASE", "base_is"), label_column("NEW", "new_is")};
  cases.title = "Changes from BASE to NEW";
  cases.where = {{"shown", "yes"}};
  cases.cells = {label_column("verdict", "verdict")};
  if (is_by_host(files.comparison)) cases.cells.push_back(label_column("host", "host"));
  if (several) cases.cells.push_back(label_column("command", "of_command"));
  for (const char* label : {"case", "of", "metric"})
    cases.cells.push_back(label_column(label, label));
  cases.cells.push_back(figure_column("BASE", "base", 0));
  cases.cells.push_back(figure_column("NEW", "new", 0));
  cases.cells.push_back(label_column("change", "change"));
  cases.cells.push_back(label_column("95 % CI", "interval"));
  cases.cells.push_back(label_column("", "remark"));
  cases.cells.push_back(label_column("why not", "reason"));
  cases.verdict = judged_lines(files, view.rule);
  if (std::ranges::any_of(files.comparison.cases,
                          [](const ComparedCase& one) { return !one.change.doubt.empty(); }))
    cases.verdict.emplace_back("* the difference may have another cause: see the warnings");
  if (hidden > 0)
    cases.verdict.insert(
        cases.verdict.begin(),
        fmt::format("{} without a difference are not shown: --format json has them", hidden));
  std::vector<View> views{std::move(cases)};
  if (!files.differences.empty()) views.push_back(std::move(differences));
  return views;
}

/// "NAME: numatlas latency, HOST, TIME, version"
std::string side_text(const Results& file, const CompareRule& rule) {
  // A command that was measured here says itself what it is.
  std::string text =
      rule.in_pairs ? file.file : fmt::format("{}: numatlas {}", file.file, file.command);
  if (file.runs.empty()) return text;
  const Rows& run = file.runs.front();
  return text +
         fmt::format(", {}, {}, version {}", fmt::join(run.hosts, " "), run.started, run.version);
}

bool is_of_a_guest(const Results& file) {
  return std::ranges::any_of(
      file.runs, [](const Rows& run) { return std::ranges::any_of(run.machines, is_virtual); });
}

/// "(triad 1MiB base -10.1 %, ...)" of the cases with a verdict, the largest change first.
std::string cases_text(std::vector<const ComparedCase*> cases) {
  std::ranges::stable_sort(cases, std::greater<>(), [](const ComparedCase* one) {
    return std::abs(one->change.part.value_or(0));
  });
  std::vector<std::string> texts;
  for (const ComparedCase* one : cases)
    add_once(texts, one->base.name + " " + part_text(one->change.part));
  return texts.empty() ? "" : fmt::format(" ({})", numatlas::names_text(texts));
}

/// Cases that nothing is known of: how far the largest change may go, and what makes it no verdict;
/// "-20 to -6.0 %: within what launches differ on a virtual machine".
std::string open_text(const std::vector<const ComparedCase*>& cases) {
  const ComparedCase* most = nullptr;
  for (const ComparedCase* one : cases)
    if (one->change.low && one->change.high &&
        (most == nullptr || std::abs(*one->change.part) > std::abs(*most->change.part)))
      most = one;
  if (most == nullptr) return "not comparable: " + cases.front()->change.reason;
  const Change& change = most->change;
  const std::string why = change.guest ? "within what launches differ on a virtual machine"
                          : change.explained && !change.doubt.empty()
                              ? "it may come from this: " + change.doubt
                          : change.single ? "within what launches differ"
                                          : "within what these launches differ";
  const std::string low = change_text(*change.low);
  return fmt::format("{}{} to {}: {}", cases.size() > 1 ? most->base.name + " " : "",
                     low.substr(0, low.rfind(' ')), change_text(*change.high), why);
}

/// The cases of one of several hosts.
struct HostCases {
  std::string host;
  std::vector<const ComparedCase*> cases;

  std::vector<const ComparedCase*> with(CaseVerdict verdict) const {
    std::vector<const ComparedCase*> found;
    std::ranges::copy_if(cases, std::back_inserter(found),
                         [&](const ComparedCase* one) { return one->change.verdict == verdict; });
    return found;
  }
  /// That of its cases which says most.
  CaseVerdict verdict() const {
    using enum CaseVerdict;
    for (const CaseVerdict one : {slower, faster, same})
      if (!with(one).empty()) return one;
    return not_distinguishable;
  }
};

std::vector<HostCases> by_host(const Comparison& found) {
  std::vector<HostCases> hosts;
  std::map<std::string, std::size_t> index;
  for (const ComparedCase& one : found.cases) {
    const auto [place, is_new] = index.try_emplace(one.base.on, hosts.size());
    if (is_new) hosts.push_back({one.base.on, {}});
    hosts[place->second].cases.push_back(&one);
  }
  return hosts;
}

/// Hosts of which one side has nothing that the other has.
std::vector<std::string> lone_hosts(const Comparison& found, const std::vector<Row>& cases) {
  std::set<std::string> compared;
  for (const ComparedCase& one : found.cases) compared.insert(one.base.on);
  std::vector<std::string> lone;
  for (const Row& one : cases)
    if (!compared.contains(one.on)) add_once(lone, one.on);
  return lone;
}

double largest_change(const HostCases& host) {
  double most = 0;
  for (const ComparedCase* one : host.with(host.verdict()))
    most = std::max(most, std::abs(one->change.part.value_or(0)));
  return most;
}

std::string hosts_answer(const Comparison& found) {
  using enum CaseVerdict;
  std::vector<HostCases> hosts = by_host(found);
  std::ranges::stable_sort(hosts, std::greater<>(), largest_change);
  std::vector<std::string> parts;
  for (const auto& [verdict, word] : {std::pair(slower, "SLOWER"),
                                      {faster, "FASTER"},
                                      {not_distinguishable, "UNDECIDED"},
                                      {same, "SAME"}}) {
    std::vector<std::string> names;
    std::vector<const ComparedCase*> open;
    for (const HostCases& host : hosts) {
      if (host.verdict() != verdict) continue;
      const bool changed = verdict == slower || verdict == faster;
      names.push_back(host.host + (changed ? cases_text(host.with(verdict)) : ""));
      if (verdict == not_distinguishable)
        open.insert(open.end(), host.cases.begin(), host.cases.end());
    }
    if (names.empty()) continue;
    const std::string of = parts.empty() ? fmt::format(" of {}", hosts.size()) : "";
    parts.push_back(fmt::format("{} {}{}{}{}", word, names.size(), of,
                                verdict == same ? "" : ": " + numatlas::names_text(names),
                                open.empty() ? "" : fmt::format(" ({})", open_text(open))));
  }
  for (const auto& [side, cases] : {std::pair("BASE", &found.only_base), {"NEW", &found.only_now}})
    if (const auto lone = lone_hosts(found, *cases); !lone.empty())
      parts.push_back(fmt::format("only in {}: {}", side, numatlas::names_text(lone)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string cases_answer(const Comparison& found) {
  const auto named = [&](CaseVerdict verdict) {
    return cases_text(HostCases{"", pointers(found)}.with(verdict));
  };
  const auto of = [&](CaseVerdict verdict) { return found.count(verdict); };
  using enum CaseVerdict;
  const std::size_t all = found.cases.size();
  const std::size_t open = of(not_distinguishable) + of(not_comparable);
  std::string text;
  if (of(slower) > 0)
    text = fmt::format("SLOWER {} of {}{}; {} faster", of(slower), all, named(slower), of(faster));
  else if (of(faster) > 0)
    text = fmt::format("FASTER {} of {}{}; 0 slower", of(faster), all, named(faster));
  else if (of(same) == all)
    text = fmt::format("SAME: {}", count_text(all, "case"));
  else if (open == all)
    return fmt::format("UNDECIDED: {}, {}", count_text(all, "case"), open_text(pointers(found)));
  else
    text = fmt::format("NO CHANGE SEEN in {}", count_text(all, "case"));
  if (of(same) > 0 && of(same) < all) text += fmt::format(", {} same", of(same));
  return open == 0 ? text : text + fmt::format(", {} undecided", open);
}

/// Other processors, which are the first thing to know; "" for the same.
std::string processors_text(const std::vector<Difference>& differences) {
  const auto other = std::ranges::find_if(differences, [](const Difference& one) {
    return one.what == "processor" && one.base && one.now;
  });
  if (other == differences.end()) return "";
  return fmt::format("DIFFERENT PROCESSORS{}: {}, now {}; ",
                     other->hosts.empty() ? "" : " of " + other->hosts, *other->base, *other->now);
}

}  // namespace

std::string reserve_of(const ComparedFiles& files) {
  std::string distrust, incomplete;
  for (const auto& [side, file] : {std::pair("BASE", &files.base), std::pair("NEW", &files.now)})
    for (const Rows& run : file->runs) {
      if (distrust.empty() && run.is_unreliable())
        distrust = fmt::format("{}: {}", side, run.doubt);
      if (incomplete.empty() && !run.complete)
        incomplete = fmt::format("{}: {}", side, run.why_incomplete());
    }
  return reserve_text(distrust, incomplete);
}

bool leaves_open(const Comparison& found) {
  const auto is_open = [](const HostCases& host) {
    return host.verdict() == CaseVerdict::not_distinguishable;
  };
  // Without names of hosts, all cases are those of one.
  return std::ranges::any_of(by_host(found), is_open) ||
         (is_by_host(found) && !(lone_hosts(found, found.only_base).empty() &&
                                 lone_hosts(found, found.only_now).empty()));
}

std::string answer_of(const Comparison& found) {
  return is_by_host(found) ? hosts_answer(found) : cases_answer(found);
}

RunReport report_of(const ComparedFiles& files, const CompareView& view) {
  RunReport report;
  report.command = "compare";
  report.version = version;
  report.complete = true;
  report.comm = report.engine = "none";
  for (const Results* side : {&files.base, &files.now})
    for (const Rows& run : side->runs) {
      report.started = std::max(report.started, run.started);
      if (is_null_engine(run.engine)) report.engine = run.engine;
    }
  report.answer = processors_text(files.differences) + answer_of(files.comparison);
  if (const std::string reserve = reserve_of(files); !reserve.empty()) {
    report.answer = fmt::format("{} ({})", reserve, report.answer);
    for (const Results* side : {&files.base, &files.now})
      if (std::ranges::any_of(side->runs, &Rows::is_unreliable)) report.trust = "unreliable";
  }
  const Shown shown(files, view, report);
  report.views = views_of(files, view, shown.hidden());
  report.views.front().notes = {"BASE: " + side_text(files.base, view.rule),
                                "NEW: " + side_text(files.now, view.rule)};
  if (!view.rule.in_pairs && (is_of_a_guest(files.base) || is_of_a_guest(files.now)))
    report.warnings.push_back(
        {"guest", "",
         "a virtual machine: how its launches differ is unknown, so one launch a side has no "
         "verdict of its own; --run measures both sides in turn"});
  for (const auto& [side, cases] : {std::pair("BASE", &files.comparison.only_base),
                                    std::pair("NEW", &files.comparison.only_now)}) {
    std::vector<std::string> names;
    for (const Row& one : *cases) add_once(names, one.name);
    if (!names.empty())
      report.warnings.push_back(
          {"only-one", "", fmt::format("only in {}: {}", side, names_text(names))});
  }
  for (const Results* file : {&files.base, &files.now})
    for (const std::string& note : file->notes) report.warnings.push_back({"note", "", note});
  return report;
}

}  // namespace numatlas

// What `numatlas check` found, as a line and as the common record.
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
#include "base/text.h"
#include "base/version.h"
#include "compare/check.h"
#include "record/unit.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

/// "triad -18 %, add -11 % since 12 Nov and 3 more"
std::string changes_text(const CheckedHost& host, const char* verdict) {
  constexpr std::size_t most = 3;
  std::vector<std::string> texts;
  std::set<std::string> names;
  std::string since;
  for (const Finding& one : host.findings) {
    if (one.verdict != verdict) continue;
    const std::string& name = one.verdict == Finding::below ? one.metric : one.name;
    if (!names.insert(name).second) continue;
    texts.push_back(fmt::format("{} {}", name, change_text(one.change)));
    if (!one.since.empty() && (since.empty() || one.since < since)) since = one.since;
  }
  const std::size_t more = texts.size() > most ? texts.size() - most : 0;
  texts.resize(texts.size() - more);
  return fmt::format("{}{}{}", fmt::join(texts, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     since.empty() ? "" : " since " + date_text(since));
}

/// "SLOW 2 of 8: n3 (triad -18 %), n4 (add -11 %)", the slowest first; of hosts that have the
/// verdict and none before. "" where there is none. `of`: " of 8".
std::string hosts_text(const Checked& checked, const char* word, const std::string& of,
                       const char* verdict, const char* before) {
  constexpr std::size_t most_detailed = 3, most_named = 20;  // the line is for logs too
  std::vector<const CheckedHost*> hosts;
  for (const CheckedHost& host : checked.hosts)
    if (host.has(verdict) && !(before != nullptr && host.has(before))) hosts.push_back(&host);
  if (hosts.empty()) return "";
  std::ranges::stable_sort(hosts, std::greater<>(), [](const CheckedHost* host) {
    return std::abs(host->findings.front().change);
  });
  std::string text = fmt::format("{} {}{}: ", word, hosts.size(), of);
  for (std::size_t i = 0; i < std::min(hosts.size(), most_named); ++i) {
    text += (i > 0 ? ", " : "") + hosts[i]->name;
    if (i < most_detailed || hosts.size() == most_detailed + 1)
      text += fmt::format(" ({})", changes_text(*hosts[i], verdict));
  }
  if (hosts.size() > most_named) text += fmt::format(" and {} more", hosts.size() - most_named);
  return text;
}

ScenarioResult case_of(const CheckedHost& host) {
  ScenarioResult found;
  found.name = host.name;
  found.kernel = "";
  found.labels = {{"finding", Finding::none}, {"host", host.name}};
  const auto flag = [&](const char* key, bool is) {
    found.figures.push_back(plain_figure(key, "", is ? 1 : 0));
  };
  flag("host_judged", host.judged);
  if (host.judged || !host.findings.empty()) {
    flag("host_slow", host.has(Finding::slow));
    flag("host_fell", host.has(Finding::fell));
    flag("host_below", host.has(Finding::below));
  }
  flag("host_unreliable", !host.distrust.empty());
  flag("host_incomplete", !host.incomplete.empty());
  found.figures.push_back(plain_figure("host_runs", "", static_cast<double>(host.runs)));
  found.figures.push_back(plain_figure("host_slow_runs", "", static_cast<double>(host.slow_runs)));
  if (const auto seconds = unix_seconds(host.newest))
    found.figures.push_back(plain_figure("host_newest_run", "s", static_cast<double>(*seconds)));
  return found;
}

/// A warning for each reason, with its hosts and commands.
void add_unjudged(const Checked& checked, RunReport& report) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> by_reason;
  for (const CheckedHost& host : checked.hosts) {
    if (host.judged) continue;
    for (const Unjudged& one : host.unjudged) {
      auto& [hosts, commands] = by_reason[one.reason];
      add_once(hosts, host.name);
      if (!one.command.empty()) add_once(commands, one.command);
    }
  }
  for (const auto& [reason, of] : by_reason) {
    const auto& [hosts, commands] = of;
    report.warnings.push_back(
        {"not-judged", "",
         fmt::format("not judged: {}: {}{}", names_text(hosts), reason,
                     commands.empty() ? "" : " (numatlas " + names_text(commands) + ")")});
  }
}

/// Hosts whose newest runs are not to be relied on, by the reason.
void add_reserves(const Checked& checked, std::string CheckedHost::*reason, const char* code,
                  const char* word, RunReport& report) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const CheckedHost& host : checked.hosts)
    if (!(host.*reason).empty()) hosts[host.*reason].push_back(host.name);
  for (const auto& [why, names] : hosts)
    report.warnings.push_back(
        {code, "", fmt::format("{} results of {}: {}", word, names_text(names), why)});
}

View hosts_view() {
  View hosts;
  hosts.title = "Hosts";
  hosts.where = {{"finding", Finding::none}};
  hosts.cells = {label_column("host", "host")};
  for (const auto& [head, key] : {std::pair("judged", "host_judged"),
                                  {"slow", "host_slow"},
                                  {"fell", "host_fell"},
                                  {"below", "host_below"},
                                  {"runs compared with others", "host_runs"},
                                  {"slow in", "host_slow_runs"}})
    hosts.cells.push_back(figure_column(head, key, 1, Part::value, 0));
  return hosts;
}

/// "3 hosts (n07: no result; n01, n02: last seen 3 Nov; n09)".
std::string unjudged_text(const Checked& checked) {
  std::map<std::string, std::vector<std::string>> by_brief;
  for (const CheckedHost& host : checked.hosts) {
    if (host.judged) continue;
    std::string brief;
    for (const Unjudged& one : host.unjudged)
      if (!one.brief.empty()) brief = ": " + one.brief;
    by_brief[brief].push_back(host.name);
  }
  std::vector<std::string> texts;
  for (const auto& [brief, names] : by_brief) texts.push_back(names_text(names) + brief);
  return fmt::format("{} ({})", count_text(checked.not_judged(), "host"), fmt::join(texts, "; "));
}

}  // namespace

std::string date_text(const std::string& started) {
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = unix_seconds(started);
  if (!seconds) return started;
  const int month = std::stoi(started.substr(5, 2)), day = std::stoi(started.substr(8, 2));
  return month < 1 || month > 12 ? started : fmt::format("{} {}", day, months[month - 1]);
}

std::string answer_of(const Checked& checked) {
  const std::size_t all = checked.hosts.size(), unknown = checked.not_judged();
  std::string found;
  const auto add = [&](const char* word, const char* verdict, const char* before,
                       const std::string& common) {
    const std::string of = (found.empty() ? fmt::format(" of {}", all) : "") + common;
    const std::string hosts = hosts_text(checked, word, of, verdict, before);
    if (!hosts.empty()) found += (found.empty() ? "" : "; ") + hosts;
  };
  add("SLOW", Finding::slow, nullptr,
      checked.groups ? fmt::format(" ({})", to_text(*checked.groups)) : "");
  add("FELL", Finding::fell, Finding::slow,
      is_most(checked.count(Finding::fell), all) ? " together" : "");
  add("BELOW", Finding::below, nullptr, "");
  const auto count = [&](std::string CheckedHost::*reason) {
    return static_cast<std::size_t>(std::ranges::count_if(
        checked.hosts, [&](const CheckedHost& host) { return !(host.*reason).empty(); }));
  };
  std::vector<std::string> open;
  if (unknown > 0) open.push_back(unjudged_text(checked));
  const auto unread = [&](const std::vector<Error>& errors, const char* what) {
    if (!errors.empty()) open.push_back(count_text(errors.size(), what) + " not readable");
  };
  unread(checked.broken, "file");
  unread(checked.closed, "folder");
  return hosts_answer(found, all - unknown, open, count(&CheckedHost::distrust),
                      count(&CheckedHost::incomplete));
}

RunReport report_of(const Checked& checked) {
  RunReport report;
  report.command = "check";
  report.version = version;
  report.complete = true;
  report.comm = "none";
  report.engine = checked.engine;
  report.answer = answer_of(checked);
  for (const CheckedHost& host : checked.hosts) {
    report.started = std::max(report.started, host.newest);
    for (const Finding& one : host.findings) report.scenarios.push_back(case_of(host.name, one));
    report.scenarios.push_back(case_of(host));
  }
  report.views = views_of_findings(report.scenarios, checked.rule.slow);
  report.views.push_back(hosts_view());
  if (checked.hosts.size() == 1) report.hosts = {checked.hosts.front().name};
  for (const CheckedHost& host : checked.hosts)
    if (!host.distrust.empty()) report.trust = "unreliable";
  add_reserves(checked, &CheckedHost::distrust, "unreliable", "UNRELIABLE", report);
  add_reserves(checked, &CheckedHost::incomplete, "incomplete", "INCOMPLETE", report);
  add_unjudged(checked, report);
  for (const std::vector<Error>* errors : {&checked.broken, &checked.closed})
    for (const Error& error : *errors)
      report.warnings.push_back({"not-read", "", "not judged: " + printable(full_text(error))});
  for (const std::string& note : checked.notes) report.warnings.push_back({"note", "", note});
  return report;
}

}  // namespace numatlas

// What `numatlas check` found, as a line and as the common record.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
#include "base/count_text.h"
#include "base/text.h"
#include "base/version.h"
#include "compare/check.h"
#include "record/unit.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

std::string date_text(const std::string& started) {
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = unix_seconds(started);
  if (!seconds) return started;
  const int month = std::stoi(started.substr(5, 2)), day = std::stoi(started.substr(8, 2));
  return month < 1 || month > 12 ? started : fmt::format("{} {}", day, months[month - 1]);
}

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

/// "SLOW 2 of 8: n3 (triad -18 %), n4 (add -11 %)"; of hosts that have the verdict and none before.
/// "" where there is none. `of`: " of 8".
std::string hosts_text(const Checked& checked, const char* word, const std::string& of,
                       const char* verdict, const char* before) {
  std::vector<std::string> texts;
  for (const CheckedHost& host : checked.hosts)
    if (host.has(verdict) && !(before != nullptr && host.has(before)))
      texts.push_back(fmt::format("{} ({})", host.name, changes_text(host, verdict)));
  return texts.empty() ? "" : fmt::format("{} {}{}: {}", word, texts.size(), of, names_text(texts));
}

Figure figure_of(const char* key, const std::string& unit, const std::optional<double>& value) {
  return {key, unit, value ? std::optional<Estimate>(*value) : std::nullopt, std::nullopt};
}

ScenarioResult case_of(const CheckedHost& host, const Finding& one) {
  ScenarioResult found;
  found.name = host.name + " " + one.name;
  found.kernel = "";
  found.labels = {{"finding", one.verdict},
                  {"host", host.name},
                  {"of_command", one.command},
                  {"case", one.name},
                  {"metric", one.metric},
                  {"against", one.against},
                  {"since", one.since.substr(0, 10)},
                  {"evidence", one.evidence}};
  found.figures = {figure_of("value", one.unit, one.value),
                   figure_of("reference", one.unit, one.reference),
                   figure_of("change", "1", one.change), figure_of("deviations", "", one.mads)};
  return found;
}

ScenarioResult case_of(const CheckedHost& host) {
  ScenarioResult found;
  found.name = host.name;
  found.kernel = "";
  found.labels = {{"finding", "none"}, {"host", host.name}};
  const auto flag = [&](const char* key, bool is) {
    found.figures.push_back(figure_of(key, "", is ? 1 : 0));
  };
  flag("host_judged", host.judged);
  if (host.judged) {
    flag("host_slow", host.has(Finding::slow));
    flag("host_fell", host.has(Finding::fell));
    flag("host_below", host.has(Finding::below));
  }
  found.figures.push_back(figure_of("host_runs", "", static_cast<double>(host.runs)));
  found.figures.push_back(figure_of("host_slow_runs", "", static_cast<double>(host.slow_runs)));
  if (const auto seconds = unix_seconds(host.newest))
    found.figures.push_back(figure_of("host_newest_run", "s", static_cast<double>(*seconds)));
  return found;
}

std::vector<View> views_of(const Checked& checked) {
  View found;
  found.title = "What is slower than it should be";
  for (const auto& [head, label] : {std::pair("host", "host"),
                                    {"", "finding"},
                                    {"command", "of_command"},
                                    {"case", "case"},
                                    {"figure", "metric"}})
    found.cells.push_back(label_column(head, label));
  found.cells.push_back(figure_column("value", "value", 0));
  found.cells.push_back(figure_column("expected", "reference", 0));
  found.cells.push_back(figure_column("change", "change", in_percent, Part::value, 1, " %"));
  found.cells.push_back(figure_column("MAD", "deviations", 1, Part::value, 1));
  for (const char* label : {"against", "since", "evidence"})
    found.cells.push_back(label_column(label, label));
  const SlowRule& rule = checked.rule.slow;
  found.notes = {fmt::format(
      "slow: over {:g} % and {:g} MAD worse than the median of hosts of its kind; fell: than that "
      "of its own earlier runs",
      rule.drop * 100, rule.mads)};
  std::vector<View> views;
  for (const char* verdict : {Finding::slow, Finding::fell, Finding::below}) {
    if (checked.count(verdict) == 0) continue;
    View one = found;
    one.where = {{"finding", verdict}};
    if (!views.empty()) one.notes.clear();
    views.push_back(std::move(one));
  }
  View hosts;
  hosts.title = "Hosts";
  hosts.where = {{"finding", "none"}};
  hosts.cells = {label_column("host", "host")};
  for (const auto& [head, key] : {std::pair("judged", "host_judged"),
                                  {"slow", "host_slow"},
                                  {"fell", "host_fell"},
                                  {"below", "host_below"},
                                  {"runs compared with others", "host_runs"},
                                  {"slow in", "host_slow_runs"}})
    hosts.cells.push_back(figure_column(head, key, 1, Part::value, 0));
  views.push_back(std::move(hosts));
  return views;
}

}  // namespace

std::string answer_of(const Checked& checked) {
  const std::size_t all = checked.hosts.size(), unknown = checked.not_judged();
  std::string found;
  const auto add = [&](const char* word, const char* verdict, const char* before) {
    const std::string of = found.empty() ? fmt::format(" of {}", all) : "";
    const std::string hosts = hosts_text(checked, word, of, verdict, before);
    if (!hosts.empty()) found += (found.empty() ? "" : "; ") + hosts;
  };
  add("SLOW", Finding::slow, nullptr);
  add("FELL", Finding::fell, Finding::slow);
  add("BELOW", Finding::below, nullptr);
  return hosts_answer(found, all - unknown, unknown) +
         (checked.broken > 0 ? fmt::format("; {} not readable", count_text(checked.broken, "file"))
                             : "");
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
    for (const Finding& one : host.findings) report.scenarios.push_back(case_of(host, one));
    report.scenarios.push_back(case_of(host));
  }
  report.views = views_of(checked);
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const CheckedHost& host : checked.hosts)
    if (!host.judged)
      for (const std::string& reason : host.unjudged) by_reason[reason].push_back(host.name);
  for (const auto& [reason, names] : by_reason)
    report.warnings.push_back(
        {"not-judged", "", fmt::format("not judged: {}: {}", names_text(names), reason)});
  for (const std::string& note : checked.notes) report.warnings.push_back({"note", "", note});
  return report;
}

}  // namespace numatlas

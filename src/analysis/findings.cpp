#include "analysis/findings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "record/figure.h"

namespace numatlas {

Figure plain_figure(const char* key, Unit unit, const std::optional<double>& value) {
  return {key, unit, value ? std::optional<Estimate>(*value) : std::nullopt, std::nullopt};
}

Finding finding_of(const SlowKernel& found, const std::string& name, const std::string& metric,
                   Unit unit) {
  Finding finding;
  finding.name = name;
  finding.metric = metric;
  finding.unit = unit;
  const bool is_time = unit.better() == Better::lower;
  finding.value = is_time ? 1 / found.rate : found.rate;
  finding.reference = is_time ? 1 / found.median : found.median;
  finding.change = *finding.value / *finding.reference - 1;
  finding.mads = found.mads;
  finding.evidence = rounds_text(found);
  return finding;
}

std::vector<Finding> findings_of(const SlowHost& slow, const std::string& command,
                                 const std::function<Finding(const SlowKernel&)>& of_case) {
  std::vector<Finding> found;
  for (const SlowKernel& one : slow.kernels) found.push_back(of_case(one));
  if (found.empty() && slow.together) {
    Finding& all = found.emplace_back();
    all.name = "all kernels together";
    all.unit = "B/s";
    all.change = -slow.together->drop;
    all.mads = slow.together->mads;
    all.evidence =
        fmt::format("{} of {} rounds", slow.together->slow_rounds, slow.together->rounds);
  }
  for (Finding& one : found) {
    const bool cleared = slow.verdict == Verdict::not_confirmed;
    one.verdict = cleared ? Finding::cleared : Finding::slow;
    one.command = command;
    one.against = count_text(slow.peers, "host");
    if (slow.verdict == Verdict::confirmed) one.evidence += "; confirmed by a second run";
    if (cleared) one.evidence += "; not confirmed by a second run";
  }
  return found;
}

ScenarioResult case_of(const std::string& host, const Finding& one) {
  ScenarioResult found;
  found.name = host + " " + one.name;
  found.kernel = "";
  found.labels = {{"finding", one.verdict},     {"host", host},
                  {"of_command", one.command},  {"case", one.name},
                  {"metric", one.metric},       {"against", one.against},
                  {"since", day_of(one.since)}, {"evidence", one.evidence}};
  found.figures = {plain_figure("value", one.unit, one.value),
                   plain_figure("reference", one.unit, one.reference),
                   plain_figure("change", "1", one.change),
                   plain_figure("deviations", "", one.mads)};
  return found;
}

bool is_finding(const ScenarioResult& one) { return find_label(one, "finding") != nullptr; }

std::vector<View> views_of_findings(const std::vector<ScenarioResult>& cases,
                                    const SlowRule& rule) {
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
  found.notes = {
      fmt::format("slow: over {:g} % and {:g} MAD worse than the median of hosts of its kind; "
                  "fell: than that of its own earlier runs",
                  rule.drop * 100, rule.mads),
      fmt::format("MAD: scaled median absolute deviations, each at least {:g} % of the median",
                  rule.least_spread * 100)};
  std::vector<View> views;
  for (const char* verdict : {Finding::slow, Finding::fell, Finding::below, Finding::cleared}) {
    if (std::ranges::none_of(
            cases, [&](const ScenarioResult& one) { return label_of(one, "finding") == verdict; }))
      continue;
    View one = found;
    one.where = {{"finding", verdict}};
    if (!views.empty()) one.notes.clear();
    views.push_back(std::move(one));
  }
  return views;
}

}  // namespace numatlas

// What judges of hosts found, as cases of the record and in words.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/text.h"

namespace numatlas {
namespace {

/// Those that are not empty.
std::string joined(std::vector<std::string> parts, const char* separator) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace

Figure plain_figure(const char* key, Unit unit, const std::optional<double>& value) {
  return {key, unit, value ? std::optional<Estimate>(*value) : std::nullopt, std::nullopt};
}

Case finding_of(const char* verdict, const std::string& host, const Row& row, double value,
                double reference, FoundWith with) {
  Case found;
  found.name = host + " " + row.name;
  found.kernel = "";
  // Of a case whose workers are on several nodes there is one for each.
  const std::string evidence =
      joined({with.evidence, row.is_median ? row.of : "", row.disturbed, with.more}, "; ");
  found.labels = {{"finding", verdict},          {"host", host},
                  {"of_command", row.command},   {"case", row.name},
                  {"metric", row.figure},        {"against", with.against},
                  {"since", day_of(with.since)}, {"evidence", evidence}};
  found.figures = {plain_figure("value", row.unit, value),
                   plain_figure("reference", row.unit, reference),
                   plain_figure("change", "1", value / reference - 1),
                   plain_figure("deviations", "", with.deviations)};
  return found;
}

bool is_finding(const Case& one) { return find_label(one, "finding") != nullptr; }

double change_of(const Case& finding) { return find_total(finding, "change")->estimate->value; }

std::vector<std::size_t> Judged::slow_hosts() const {
  std::vector<std::size_t> hosts;
  for (const auto& [host, one] : findings)
    if (label_of(one, "finding") == finding::slow) add_once(hosts, host);
  return hosts;
}

std::vector<std::string> unjudged_texts(const std::vector<std::string>& hosts,
                                        const Judged& judged) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [host, reason] : judged.unjudged) by_reason[reason].push_back(hosts[host]);
  std::vector<std::string> texts;
  for (const auto& [reason, names] : by_reason) texts.push_back(names_text(names) + ": " + reason);
  return texts;
}

std::string answer_of(const std::vector<std::string>& hosts, const Judged& judged) {
  std::vector<std::string> slow;
  for (const std::size_t host : judged.slow_hosts()) {
    std::vector<std::string> cases;
    for (const auto& [of, one] : judged.findings)
      if (of == host) cases.push_back(label_of(one, "case") + " " + change_text(change_of(one)));
    slow.push_back(fmt::format("{} ({})", hosts[host], names_text(cases)));
  }
  const std::string groups = judged.groups ? fmt::format(" ({})", to_text(*judged.groups)) : "";
  const std::string found = slow.empty() ? ""
                                         : fmt::format("SLOW {} of {}{}: {}", slow.size(),
                                                       hosts.size(), groups, names_text(slow));
  std::vector<std::string> open;
  if (!judged.unjudged.empty()) open.push_back(count_text(judged.unjudged.size(), "host"));
  return hosts_answer(found, hosts.size() - judged.unjudged.size(), open);
}

std::string to_text(const SlowRule& rule) {
  return fmt::format(
      "over {:g} % and {:g} MAD below the median of its kind, or over {:g} % in all kernels "
      "together",
      rule.drop * 100, rule.mads, rule.drop_together * 100);
}

std::string to_text(const TwoGroups& groups) {
  return fmt::format("two groups, {:.0f} % apart: {} and {} hosts", groups.apart * 100, groups.fast,
                     groups.slow);
}

std::string hosts_answer(const std::string& found, std::size_t judged,
                         const std::vector<std::string>& open, std::size_t unreliable,
                         std::size_t incomplete) {
  const std::string none = judged == 1
                               ? "1 host, not slow"
                               : fmt::format("none of {} is slow", count_text(judged, "host"));
  const auto doubt = [&](const char* form) {
    return joined({unreliable > 0 ? fmt::format(fmt::runtime(form), unreliable, "UNRELIABLE") : "",
                   incomplete > 0 ? fmt::format(fmt::runtime(form), incomplete, "INCOMPLETE") : ""},
                  ", ");
  };
  const std::string unjudged = open.empty() ? "0 not judged" : "NOT JUDGED: " + joined(open, ", ");
  if (!found.empty()) return joined({found, unjudged, doubt("{0} {1}")}, "; ");
  if (!open.empty()) return joined({unjudged, judged > 0 ? none : "", doubt("{0} {1}")}, "; ");
  if (unreliable + incomplete > 0)
    return fmt::format("{} of {}; none is slow", doubt("{1}: {0}"), count_text(judged, "host"));
  return fmt::format("OK: {}; {}", none, unjudged);
}

std::vector<View> views_of_findings(const std::vector<Case>& cases, const SlowRule& rule) {
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
  for (const char* verdict :
       {finding::slow, finding::fell, finding::low, finding::below, finding::cleared}) {
    if (std::ranges::none_of(cases,
                             [&](const Case& one) { return label_of(one, "finding") == verdict; }))
      continue;
    View one = found;
    one.where = {{"finding", verdict}};
    if (!views.empty()) one.notes.clear();
    views.push_back(std::move(one));
  }
  return views;
}

}  // namespace numatlas

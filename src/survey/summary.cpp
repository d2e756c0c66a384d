#include "survey/summary.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/rows.h"
#include "machine/identity.h"
#include "published/expected.h"
#include "report/answer.h"

namespace numatlas {
namespace {

/// 0: memory or workers are not where they should be; 1: something else was at work; 2: the rest.
int rank_of(const Warning& warning) {
  constexpr std::array<std::string_view, 8> of_placement{
      "placement",        "page-size",   "placement-unknown", "placement-method",
      "memory-not-local", "cpu-outside", "memory-moved",      "pages-moved"};
  constexpr std::array<std::string_view, 7> of_interference{
      "low-overlap",       "oversubscribed",  "setting",   "stopped",
      "copies-took-turns", "other-processes", "two-speeds"};
  const auto has = [&](const auto& codes) {
    return std::find(codes.begin(), codes.end(), warning.code) != codes.end();
  };
  return has(of_placement) ? 0 : has(of_interference) ? 1 : 2;
}

/// Of all benchmarks, the gravest first. What holds for the machine is the same in each report.
std::vector<std::string> warnings_of(const std::vector<RunReport>& reports) {
  std::vector<Warning> all;
  for (const RunReport& report : reports) {
    for (Warning warning : report.warnings) {
      // The name of a case does not say which benchmark it is of.
      if (!warning.where.empty()) warning.where = report.command + " " + warning.where;
      if (std::find(all.begin(), all.end(), warning) == all.end())
        all.push_back(std::move(warning));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Warning& a, const Warning& b) { return rank_of(a) < rank_of(b); });
  return counted(all);
}

std::string expected_text(const std::vector<RunReport>& reports) {
  for (const RunReport& report : reports) {
    if (report.machines.size() != 1 || !is_bare_metal(report.machines.front())) continue;
    if (const auto reads = all_reads_of(rows_of(report)))
      return reads_text(report.machines.front(), *reads);
  }
  return "";
}

}  // namespace

SurveySummary summary_of(const std::vector<RunReport>& reports) {
  SurveySummary summary;
  for (const RunReport& report : reports)
    summary.facts.insert(summary.facts.end(), report.facts.begin(), report.facts.end());
  summary.warnings = warnings_of(reports);
  summary.distrust = distrust_of(reports);
  summary.expected = expected_text(reports);
  return summary;
}

}  // namespace numatlas

#include <cstddef>
#include <string>

#include "compare/compare_output.h"
#include "report/openmetrics.h"

namespace numatlas {

std::string runs_openmetrics(const ComparedRuns& runs) {
  Gauge judged("numatlas_compare_host_judged", "",
               "1 where the newest run of a command on the host was compared with others of its "
               "kind or with earlier runs, 0 where it could not be.");
  Gauge slow("numatlas_compare_host_slow", "",
             "1 where the host is slower than others of its kind or than its earlier runs; of "
             "judged hosts only.");
  Gauge cases("numatlas_compare_host_slower_cases", "",
              "Cases of the newest run that are slower than those of other hosts (peers) or of "
              "earlier runs (past).");
  Gauge started("numatlas_compare_host_newest_run_seconds", "seconds",
                "When the newest run of a command on the host began, in seconds since 1970 (UTC).");
  for (const RunSeries& group : runs.groups) {
    const HostVerdict& verdict = group.verdict;
    if (verdict.replaced) continue;
    const MetricLabels labels{{"command", group.command}, {"host", hosts_text(group)}};
    const bool known = verdict.not_judged.empty();
    judged.add(labels, known ? 1 : 0);
    if (known) slow.add(labels, verdict.is_slow() ? 1 : 0);
    const auto count = [&](const char* against, std::size_t compared, std::size_t slower) {
      if (compared == 0) return;
      MetricLabels of = labels;
      of.emplace_back("against", against);
      cases.add(of, static_cast<double>(slower));
    };
    count("peers", verdict.compared, verdict.slow.size());
    count("past", verdict.with_past, verdict.slower_than_past);
    if (const auto seconds = unix_seconds(group.runs.back().started))
      started.add(labels, static_cast<double>(*seconds));
  }
  return judged.text() + slow.text() + cases.text() + started.text() + "# EOF\n";
}

}  // namespace numatlas

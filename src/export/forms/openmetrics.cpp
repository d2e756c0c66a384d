// For the textfile collector of Prometheus' node exporter.
#include "report/openmetrics.h"

#include <optional>
#include <string>

#include "export/export.h"

namespace numatlas {
namespace {

std::string host_label(const StoredRun& run) {
  return run.hosts.size() == 1 ? run.hosts.front() : "all";
}

Expected<Exported> export_openmetrics(const ExportInput& input) {
  // Not the names of a run's own figures: a metric must not stand in two files with other help.
  FigureGauges figures("numatlas_fact");
  for (const auto& [fact, run] : facts_of(input)) {
    MetricLabels labels{{"command", run->command}, {"host", host_label(*run)}};
    for (const auto& [name, value] : fact->where)
      labels.emplace_back(name == "command" || name == "host" ? "fact_" + name : name, value);
    figures.add({fact->key, fact->unit, fact->estimate, std::nullopt}, labels);
  }
  Gauge info("numatlas_fact_info", "", "How the facts were measured.");
  Gauge complete("numatlas_fact_complete", "", "1 where the run came to its end.");
  Gauge started("numatlas_fact_started_seconds", "seconds",
                "When the run started, in seconds since 1970 (UTC).");
  for (const StoredRun& run : input.stored.runs) {
    const MetricLabels labels{{"command", run.command}, {"host", host_label(run)}};
    MetricLabels all = labels;
    all.insert(all.end(), {{"version", run.version}, {"engine", run.engine}});
    info.add(all, 1);
    complete.add(labels, run.complete ? 1 : 0);
    if (const auto seconds = unix_seconds(run.started))
      started.add(labels, static_cast<double>(*seconds));
  }
  return Exported{figures.text() + info.text() + complete.text() + started.text() + "# EOF\n", {}};
}

}  // namespace

ExportForm openmetrics_form() {
  return {"openmetrics", "metrics for node exporter's textfile collector", false, true,
          export_openmetrics};
}

}  // namespace numatlas

#include "benchmarks/benchmark.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "report/csv.h"
#include "report/notes.h"
#include "report/view_table.h"

namespace numatlas {

std::string Benchmark::table(const RunReport& report, const RunOptions& options) const {
  std::string text;
  if (!by_host() || report.hosts.size() < 2) {
    text = views_text(report, views(report));
  } else {
    for (std::size_t host = 0; host < report.hosts.size(); ++host) {
      const RunReport part = of_host(report, static_cast<int>(host));
      text += fmt::format("Host {}\n\n", report.hosts[host]) + views_text(part, views(part));
    }
  }
  return text + (options.stats ? stats_text(report) : "") + notes_text(report);
}

std::string Benchmark::csv_file(const RunReport& report, const RunOptions& /*options*/) const {
  return size_matrix_csv(report, main_metric());
}

}  // namespace numatlas

#include "benchmarks/benchmark.h"

#include <string>

#include "report/csv.h"
#include "report/view_table.h"
#include "report/worker_table.h"

namespace numatlas {

std::string Benchmark::table(const RunReport& report, const RunOptions& options) const {
  return views_text(report, views(report), by_host()) + (options.stats ? stats_text(report) : "") +
         notes_text(report);
}

std::string Benchmark::csv_file(const RunReport& report, const RunOptions& /*options*/) const {
  return size_matrix_csv(report, main_metric());
}

}  // namespace numatlas

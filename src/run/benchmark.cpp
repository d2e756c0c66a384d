#include "run/benchmark.h"

#include <string>

#include "report/csv.h"
#include "report/reporter.h"

namespace numatlas {

std::string Benchmark::text(const RunReport& report, const RunOptions& options) const {
  const bool for_people = options.format == "table" || options.format == "markdown";
  return text_in(options.format, report, options.style) +
         (for_people ? remarks(report, options) : "");
}

std::string Benchmark::csv_file(const RunReport& report, const RunOptions& /*options*/) const {
  return size_matrix_csv(report, spec_.main_metric);
}

}  // namespace numatlas

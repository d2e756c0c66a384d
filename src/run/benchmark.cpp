#include "run/benchmark.h"

#include <string>

#include "report/reporter.h"

namespace numatlas {

std::string Benchmark::text(const RunReport& report, const RunOptions& options) const {
  const bool for_people = options.format == "table" || options.format == "markdown";
  return text_in(options.format, report, options.style) +
         (for_people ? remarks(report, options) : "");
}

}  // namespace numatlas

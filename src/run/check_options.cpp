#include "run/check_options.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/file.h"

namespace numatlas {

Expected<void> check_options(const Benchmark& benchmark, const RunOptions& options,
                             const Comm& comm) {
  if (comm.rank() == 0 && !options.only_plans()) {
    std::vector<OutputFile> files = output_files(options);
    for (const OutputFile& own : benchmark.own_files({})) files.push_back(own);
    TRY(check_writable(files));
  }
  if (!options.csv_file.empty() && options.pages.size() > 1)
    return fail_usage("--csv", "its format has no column for several --pages",
                      "use --format csv or --json FILE");
  const std::string who = options.process_memory.value_or("");
  if (!who.empty() && who != "all" && std::stoi(who) >= comm.size())
    return fail_usage("--process-memory",
                      fmt::format("no rank {}; ranks are 0 to {}", who, comm.size() - 1));
  return {};
}

}  // namespace numatlas

#include "run/check_options.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "report/file.h"

namespace numatlas {

Expected<void> check_options(const Benchmark& benchmark, const RunOptions& options, Comm& comm) {
  std::optional<Error> problem;
  if (comm.rank() == 0 && !options.only_plans()) {
    std::vector<OutputFile> files = output_files(options);
    for (const OutputFile& own : benchmark.own_files({})) files.push_back(own);
    problem = error_of(check_writable(files));
  }
  if (!problem && !options.csv_file.empty() && options.pages.size() > 1) {
    problem = Error{ErrorKind::usage, "its format has no column for several --pages",
                    "use --format csv or --json FILE", "--csv"};
  }
  const std::string who = options.process_memory.value_or("");
  if (!problem && !who.empty() && who != "all" && std::stoi(who) >= comm.size()) {
    problem =
        Error{ErrorKind::usage, fmt::format("no rank {}; ranks are 0 to {}", who, comm.size() - 1),
              "", "--process-memory"};
  }
  return agree(comm, problem);
}

}  // namespace numatlas

#include "benchmarks/check_options.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "report/file.h"

namespace numatlas {

Expected<void> check_options(const RunOptions& options, Comm& comm) {
  std::optional<Error> problem;
  if (comm.rank() == 0 && !options.only_plans()) {
    if (!options.csv_file.empty()) problem = error_of(check_writable(options.csv_file, "--csv"));
    if (!problem && !options.json_file.empty()) {
      problem = error_of(check_writable(options.json_file, "--json"));
    }
    if (!problem && !options.samples_file.empty())
      problem = error_of(check_writable(options.samples_file, "--samples"));
  }
  if (!problem && !options.csv_file.empty() && options.csv_file == options.json_file) {
    problem = Error{ErrorKind::usage, "--csv and --json name the same file", ""};
  }
  if (!problem && !options.samples_file.empty() &&
      (options.samples_file == options.csv_file || options.samples_file == options.json_file)) {
    problem = Error{ErrorKind::usage, "--samples: another option names the same file", ""};
  }
  if (!problem && options.samples_file == "-") {
    problem = Error{ErrorKind::usage, "--samples takes a file, not standard output",
                    "numatlas.load reads it"};
  }
  if (!problem && (options.csv_file == "-" || options.json_file == "-")) {
    problem = Error{ErrorKind::usage, "--csv and --json take files, not standard output",
                    "use --format csv or --format json"};
  }
  if (!problem && !options.csv_file.empty() && options.pages.size() > 1) {
    problem = Error{ErrorKind::usage, "--csv: its format has no place for several --pages",
                    "use --format csv or --json FILE"};
  }
  const std::string who = options.process_memory.value_or("");
  if (!problem && !who.empty() && who != "all" && std::stoi(who) >= comm.size()) {
    problem = Error{
        ErrorKind::usage,
        fmt::format("--process-memory: there is no rank {}, only 0 to {}", who, comm.size() - 1),
        ""};
  }
  return agree(comm, problem);
}

}  // namespace numatlas

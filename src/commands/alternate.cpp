#include "commands/alternate.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/program.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "base/text.h"
#include "benchmarks/all.h"
#include "commands/external.h"
#include "compare/compare.h"
#include "report/file.h"
#include "run/benchmark.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

/// A folder for results; one without a name goes with its owner.
class ResultFolder {
 public:
  ResultFolder() = default;
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder() {
    std::error_code code;
    if (temporary_) fs::remove_all(path_, code);
  }

  Expected<void> make(const std::string& name) {
    std::error_code code;
    if (!name.empty()) {
      path_ = name;
      fs::create_directories(path_, code);
      if (!code) return {};
      return fail_about(file_error_kind(code.value()), "--keep",
                        fmt::format("{}: {}", name, code.message()));
    }
    std::string pattern = (fs::temp_directory_path(code) / "numatlas-XXXXXX").string();
    if (code || mkdtemp(pattern.data()) == nullptr)
      return fail_about(ErrorKind::io, "--run",
                        fmt::format("{}: cannot create a folder for results: {}", pattern,
                                    code ? code.message() : errno_text(errno)),
                        "name one with --keep");
    path_ = pattern;
    temporary_ = true;
    return {};
  }

  std::string file(char side, int number) const {
    return (path_ / fmt::format("{}-{}.json", side, number)).string();
  }

 private:
  fs::path path_;
  bool temporary_ = false;
};

/// For the shell; one of ours takes its place, and so ends with this process.
std::string line_of(const std::string& command, const std::string& file) {
  const std::string first = command.substr(0, command.find_first_of(" \t"));
  const auto benchmarks = all_benchmarks();
  const bool ours = std::any_of(benchmarks.begin(), benchmarks.end(),
                                [&](const auto& one) { return one.name == first; });
  return fmt::format("{}{}{} --json {} >/dev/null", ours ? "exec \"$NUMATLAS\" " : "", command,
                     ours ? " --quiet" : "", shell_word(file));
}

Expected<Results> launch(const std::string& command, const std::string& file) {
  std::error_code ignored;
  fs::remove(file, ignored);  // one of an earlier comparison
  install_signal_handlers();
  ProgramRequest request{{"/bin/sh", "-c", line_of(command, file)}};
  // From a terminal, Ctrl-C reaches all that the line started.
  request.own_group = isatty(STDIN_FILENO) == 0;
  request.grace = std::chrono::seconds(10);
  const auto run = run_program(request);
  const auto ended = [&](ErrorKind kind, const std::string& how) {
    return fail_about(kind, "--run", fmt::format("'{}' {}", command, how),
                      kind == ErrorKind::interrupted ? "" : "run it alone, with --json FILE");
  };
  if (!run) return ended(ErrorKind::resource, "did not start: " + run.error().message);
  const int code = run->exit_code();
  if (stop_requested() || code == 128 + SIGINT || code == 128 + SIGTERM)
    return ended(ErrorKind::interrupted, "was interrupted");
  constexpr int found_wanting = 1;  // complete, and something in it is not as it should be
  if (code != 0 && code != found_wanting)
    return ended(ErrorKind::usage, fmt::format("ended with exit code {}", code));
  if (!fs::exists(file, ignored))
    return ended(ErrorKind::usage,
                 "wrote no result: it must be a command of numatlas, at whose end "
                 "--json FILE can stand");
  auto stored = read_stored(file);
  if (!stored) return fail(about("--run", stored.error()));
  return stored;
}

}  // namespace

Expected<Launches> measure_in_turn(const std::array<std::string, 2>& commands, int pairs,
                                   const std::string& name, bool quiet) {
  ResultFolder folder;
  TRY(folder.make(name));
  name_this_program();
  Launches launches;
  for (int i = 0; i < 2 * pairs; ++i) {
    const int pair = i / 2;
    const int side = (i + pair) % 2;  // A B, B A, A B, ...
    const std::string& command = commands[static_cast<std::size_t>(side)];
    if (!quiet)
      say(fmt::format("[{}/{}] {}: {}\n", i + 1, 2 * pairs, side == 0 ? "BASE" : "NEW", command));
    auto stored = TRY(launch(command, folder.file(side == 0 ? 'a' : 'b', pair + 1)));
    launches[static_cast<std::size_t>(side)].push_back(std::move(stored));
    if (i != 1) continue;
    // Before the time of all others is spent.
    CompareRule rule;
    rule.in_pairs = true;
    const auto comparison = compare_files(launches[0][0], launches[1][0], rule);
    if (!comparison) return fail(about("--run", comparison.error()));
  }
  return launches;
}

}  // namespace numatlas

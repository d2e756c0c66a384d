// The benchmarks of this build (CMake makes the list from the folders here), and from words to one
// that is ready to run: used by the command line, by `survey`, and by the source systems' commands,
// which are translations into these words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/benchmark.h"

namespace numatlas {

/// All benchmarks of this build, by name.
std::vector<Benchmark> all_benchmarks();

/// A benchmark with its options read and checked.
struct ParsedRun {
  Benchmark benchmark;
  RunOptions options;
};

/// A benchmark's option parser, alive as long as the values it fills.
class RunParser {
 public:
  explicit RunParser(Benchmark benchmark) : benchmark_(std::move(benchmark)) {}
  /// Declares the options on `app`, which must be parsed before `take`.
  void add_to(CLI::App& app);
  Expected<ParsedRun> take(std::vector<std::string> arguments) &&;
  const Benchmark& benchmark() const { return benchmark_; }

 private:
  Benchmark benchmark_;
  CommonOptions common_;
};

/// Parses words as `numatlas BENCHMARK WORDS...` would.
Expected<ParsedRun> parse_run(const std::string& benchmark, const std::vector<std::string>& words);

/// What the parser found wrong with the words, as an error (usage) in our words.
Error parse_error(const CLI::App& app, const CLI::ParseError& error);

/// Error (usage) about words that the parser left over: names the first and the nearest option or
/// command that exists.
Error leftover_error(const CLI::App& app, const std::vector<std::string>& leftover);

}  // namespace numatlas

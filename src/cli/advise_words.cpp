#include "cli/advise_words.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/declare.h"
#include "report/file.h"

namespace numatlas {
namespace {

template <class T>
Expected<std::optional<T>> optional_whole(const std::string& text, T low, T high,
                                          const std::string& option) {
  if (text.empty()) return std::optional<T>();
  const auto number = parse_whole<T>(text, low, high, option);
  if (!number) return fail(number.error());
  return std::optional<T>(*number);
}

Expected<double> seconds_in(const std::string& text, const std::string& option) {
  const auto time = parse_duration(text);
  if (!time) return fail(about(option, time.error()));
  return std::chrono::duration<double>(*time).count();
}

/// A file on standard input is read anew by each run; what can be read only once, by none.
Expected<std::string> input_of(const AdviseWords& words) {
  if (!words.input.empty()) return words.input;
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return std::string();
  return std::string("/proc/self/fd/0");
}

Expected<void> read_numbers(const AdviseWords& words, AdviseOptions& options) {
  constexpr std::size_t least_runs = 5, most_runs = 10000, most_warmup = 1000;
  const auto runs = optional_whole<std::size_t>(words.runs, least_runs, most_runs, "--runs");
  if (!runs) return fail(runs.error());
  options.runs = *runs;
  const auto warmup = parse_whole<std::size_t>(words.warmup, 0, most_warmup, "--warmup");
  if (!warmup) return fail(warmup.error());
  options.warmup = *warmup;
  const auto seed = parse_whole<std::uint64_t>(words.seed, 0, UINT64_MAX, "--seed");
  if (!seed) return fail(seed.error());
  options.seed = *seed;
  const auto seconds = seconds_in(words.time, "--time");
  if (!seconds) return fail(seconds.error());
  options.seconds = *seconds;
  if (words.timeout.empty()) return {};
  const auto timeout = seconds_in(words.timeout, "--timeout");
  if (!timeout) return fail(timeout.error());
  options.timeout = *timeout;
  return {};
}

}  // namespace

Expected<ProgramTraits> traits_from(const std::string& text, int ranks) {
  ProgramTraits traits;
  traits.ranks = ranks;
  for (const std::string& word : text.empty() ? std::vector<std::string>{} : words_of(text)) {
    const auto sign = word.find('=');
    const std::string name = word.substr(0, sign);
    const std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
    if (name == "threads") {
      const auto threads = parse_whole<int>(value, 1, 65536, "--assume threads");
      if (!threads) return fail(threads.error());
      traits.threads = *threads;
    } else if (name == "memory") {
      const auto memory = parse_bytes(value);
      if (!memory) return fail(about("--assume memory", memory.error()));
      traits.memory = *memory;
    } else if (name == "openmp" && value.empty()) {
      traits.openmp = true;
    } else if (name == "mpi" && value.empty()) {
      traits.mpi = true;
    } else if (name == "gpu" && value.empty()) {
      traits.gpu = true;
    } else {
      return fail_usage("--assume", fmt::format("'{}' is not known", word),
                        "threads=N, memory=SIZE, openmp, mpi, gpu, separated by commas");
    }
  }
  return traits;
}

Expected<AdviseOptions> options_of(const AdviseWords& words,
                                   const std::vector<std::string>& program) {
  AdviseOptions options;
  options.program = program;
  options.arguments = {"advise"};
  options.arguments.insert(options.arguments.end(), program.begin(), program.end());
  if (auto read = read_numbers(words, options); !read) return fail(read.error());
  auto metric = Metric::parse(words.metric, words.higher);
  if (!metric) return fail(metric.error());
  options.metric = *std::move(metric);
  const auto ranks = optional_whole<int>(words.ranks, 1, 65536, "--ranks");
  if (!ranks) return fail(ranks.error());
  auto launch = parse_launch(words.launcher, ranks->value_or(0));
  if (!launch) return fail(launch.error());
  options.launch = *std::move(launch);
  auto input = input_of(words);
  if (!input) return fail(input.error());
  options.input = *std::move(input);
  options.axes = {words.axes.begin(), words.axes.end()};
  options.prepare = words.prepare;
  options.show_output = words.show_output;
  if (!words.atlas.empty()) {
    auto atlas = read_atlas(words.atlas);
    if (!atlas) return fail(atlas.error());
    options.atlas = *std::move(atlas);
  }
  return options;
}

Expected<void> check_words(const AdviseWords& words, const std::vector<std::string>& program) {
  if (program.empty())
    return fail_usage("advise", "no program is named", "numatlas advise -- PROGRAM ARGUMENTS");
  if (!words.machine.empty() && !words.dry_run)
    return fail_usage("--machine", "a program cannot run on a recorded machine",
                      "add --dry-run to see what would be tried there");
  if (!words.assume.empty() && !words.dry_run)
    return fail_usage("--assume", "needs --dry-run", "without it the program is observed instead");
  if (words.show_output && words.metric != "time")
    return fail_usage("--show-output", "a metric is searched in what the program prints",
                      "leave one of them out");
  std::vector<OutputFile> files;
  for (const std::string& file : words.exports) {
    if (!file.ends_with(".json") && !file.ends_with(".md") && !file.ends_with(".sh"))
      return fail_usage("--export", fmt::format("'{}' has none of the endings known", file),
                        "FILE.json, FILE.md (Markdown) or FILE.sh (a script)");
    files.push_back({"--export", file});
  }
  return check_writable(files);
}

}  // namespace numatlas

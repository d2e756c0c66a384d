// What all of the source systems' programs do around their work.
#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/cli_forward.h"
#include "benchmarks/parse.h"
#include "benchmarks/runner.h"

namespace numatlas::legacy {

/// Parses the words after the program's name. The exit code where the program ends with that: help
/// was asked for, or a word is wrong, which is said.
std::optional<int> parse_program(CLI::App& app, const std::vector<std::string>& words);

/// The error (usage) about words that the parser left over.
Error unknown_word(const CLI::App& app, const std::vector<std::string>& leftover);

/// What a program says in place of what numatlas says.
struct OwnWords {
  /// By option of numatlas, the program's own: {"--size", "SIZE_MB"}. Others are no options here,
  /// and lose their dashes.
  std::map<std::string, std::string> options = {};
  std::string less_memory = "ask for less";  ///< the hint where memory is short
};

/// An error of the shared code as a program says it.
Error in_its_words(Error error, const OwnWords& own);

/// Connects the ranks and calls `work` on each; errors are said in the program's words. Returns the
/// process's exit code.
int run_on_ranks(const OwnWords& own, const std::function<Expected<void>(Comm&)>& work);

/// Runs a benchmark with a table of the program's own; the notes of the run go to standard error,
/// after it.
Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const OwnWords& own);

/// Error (usage) when there are several ranks, the same on each: for a program whose threads
/// measure without ranks, and would do so beside each other.
Expected<void> check_one_task(const Comm& comm);

/// A whole number from 1 to `most`; the error (usage) names the option.
template <class T>
Expected<T> whole(const std::string& text, const char* option, T most) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size() && value > 0 && value <= most)
    return value;
  return fail_usage(option, fmt::format("'{}' is not a whole number from 1 to {}", text, most));
}

/// For tests: the placement of a recorded machine, as `numatlas exec` hands it on there
/// (NUMATLAS_TEST_MACHINE, _CPUS, _MEMORY); empty unless the null engine is asked for.
std::vector<std::string> test_words();

}  // namespace numatlas::legacy

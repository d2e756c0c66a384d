// What all of the source systems' programs do around their work.
#pragma once

#include <charconv>
#include <functional>
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

/// What numatlas says, and what a program says in its place: {"--size", "SIZE_MB"}. Of two that fit
/// at one place the first; what was put in stays.
using Wording = std::vector<std::pair<std::string_view, std::string_view>>;

/// Text of the shared code as a program says it: with `own`, then with what no program here has an
/// option for said without one (--memory, --cpus, --threads, --mpi).
std::string in_its_words(const std::string& text, const Wording& own);
Error in_its_words(Error error, const Wording& own);

/// Connects the ranks and calls `work` on each; errors are said in the program's words. Returns the
/// process's exit code.
int run_on_ranks(const Wording& own, const std::function<Expected<void>(Comm&)>& work);

/// Runs a benchmark with a table of the program's own; the notes of the run go to standard error,
/// after it.
Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const Wording& own);

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
  return fail(ErrorKind::usage,
              fmt::format("{}: '{}' is not a whole number from 1 to {}", option, text, most));
}

/// For tests: the placement of a recorded machine, as `numatlas exec` hands it on there
/// (NUMATLAS_TEST_MACHINE, _CPUS, _MEMORY); empty unless the null engine is asked for.
std::vector<std::string> test_words();

}  // namespace numatlas::legacy

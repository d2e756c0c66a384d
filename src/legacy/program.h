// What all of the source systems' programs do around their work.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cli_forward.h"
#include "benchmarks/parse.h"
#include "run/runner.h"

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

/// The words of numatlas that a program's arguments became, read and checked.
Expected<ParsedRun> translated_run(const std::string& benchmark, std::vector<std::string> words);

/// What a program has to say of a run beside its table.
using NotesOf = std::function<std::string(const RunReport&)>;
std::string usual_notes(const RunReport& report);

/// Runs a benchmark with a table of the program's own; the notes of the run go to standard error,
/// after it.
Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const OwnWords& own, const NotesOf& notes_of = usual_notes);

/// The hooks of a program that takes no time and memory beside what it is asked to measure.
RunHooks plain_hooks(std::function<std::string(const RunReport&)> table);

/// The whole work of a program whose threads measure without ranks. `check`: what must hold before
/// anything is measured. Returns the process's exit code.
int run_alone(const Expected<ParsedRun>& parsed, const OwnWords& own, const RunHooks& hooks,
              const NotesOf& notes_of = usual_notes,
              const std::function<Expected<void>()>& check = {});

/// Error (usage) when there are several ranks, the same on each: for a program whose threads
/// measure without ranks, and would do so beside each other.
Expected<void> check_one_task(const Comm& comm);

/// For tests: whether the null engine is asked for.
bool is_scripted();
/// For tests: the placement of a recorded machine, as `numatlas exec` hands it on there
/// (NUMATLAS_TEST_MACHINE, _CPUS, _MEMORY); empty unless the null engine is asked for.
std::vector<std::string> test_words();

}  // namespace numatlas::legacy

#include "cli/commands.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/parse.h"
#include "report/file.h"

namespace numatlas {

Expected<int> answer(const std::string& text) {
  return write_stdout(text).map([] { return 0; });
}

Expected<std::vector<std::string>> program_of(const CLI::App& app,
                                              const std::vector<std::string>& after_dashes) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
    return fail(leftover_error(app, words));
  // A `--` after the program's name is the program's own.
  if (!words.empty() && !after_dashes.empty()) words.push_back("--");
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  return words;
}

}  // namespace numatlas

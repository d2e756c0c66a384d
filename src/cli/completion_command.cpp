#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "benchmarks/declare.h"
#include "benchmarks/declared.h"
#include "cli/commands.h"
#include "report/file.h"

namespace numatlas {

Command add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", *shell, named({"bash", "zsh", "fish"}), "shell to print the script for")
      ->required();
  return [shell, program = app.get_parent()]() -> Expected<int> {
    if (auto shown = write_stdout(completion(*program, *shell)); !shown) return fail(shown.error());
    return 0;
  };
}

}  // namespace numatlas

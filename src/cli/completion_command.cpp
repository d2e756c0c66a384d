#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "run/declare.h"
#include "run/declared.h"

namespace numatlas {

Command add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", *shell, named({"bash", "zsh", "fish"}), "shell to print the script for")
      ->required();
  return [shell, program = app.get_parent()] { return answer(completion(*program, *shell)); };
}

}  // namespace numatlas

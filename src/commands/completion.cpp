#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "commands/command.h"
#include "run/declare.h"
#include "run/declared.h"

namespace numatlas {

namespace {

Start declare_completion(CLI::App& app, const CommandLine&) {
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", *shell, named({"bash"}), "shell to print the script for")->required();
  // The option writes to `shell`.
  return [shell, program = app.get_parent()] { return answer(completion(*program)); };
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print a completion script for bash",
          .listing = {Topic::other, true},
          .examples =
              {{"In the running shell", "source <(numatlas completion bash)"},
               {"For zsh, in its ~/.zshrc",
                "autoload -U bashcompinit && bashcompinit && source <(numatlas completion bash)"}},
          .declare = declare_completion};
}

}  // namespace numatlas

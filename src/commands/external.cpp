#include "commands/external.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/own_files.h"
#include "base/program.h"

extern char** environ;  // POSIX has it in no header

namespace numatlas {
namespace {

namespace fs = std::filesystem;

const std::string prefix = "numatlas-";

/// A folder that programs are looked for in. From `top` on all must be trusted; "": the user named
/// it.
struct SearchFolder {
  fs::path path, top;
};

std::vector<SearchFolder> folders_of(const char* variable) {
  std::vector<SearchFolder> folders;
  const char* value = environment_variable(variable);
  std::istringstream text(value == nullptr ? "" : value);
  for (std::string folder; std::getline(text, folder, ':');) {
    if (!folder.empty()) folders.push_back({folder, ""});
  }
  return folders;
}

std::vector<SearchFolder> search_path() {
  std::vector<SearchFolder> folders = folders_of("NUMATLAS_EXEC_PATH");
  if (const fs::path here = program_folder(); !here.empty()) {
    folders.push_back({here, here});
    folders.push_back({here.parent_path() / "lib/numatlas/python/bin", here.parent_path()});
    const fs::path own = NUMATLAS_VENV;
    if (!build_folder().empty()) folders.push_back({own / "bin", own.parent_path()});
  }
  const std::vector<SearchFolder> path = folders_of("PATH");
  folders.insert(folders.end(), path.begin(), path.end());
  return folders;
}

std::vector<std::string> whole_line(const std::string& program,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Error start_error(const std::string& program, int code) {
  const bool of_python =
      is_python_command(fs::path(program).filename().string().substr(prefix.size()));
  return {ErrorKind::unavailable, errno_text(code),
          code == EACCES ? "are it and the interpreter in its first line executable?"
          : of_python
              ? "its interpreter may be missing: set up the Python part again with scripts/run"
              : "does the interpreter in its first line exist?",
          program};
}

}  // namespace

const std::vector<ExternalCommand>& python_commands() {
  static const std::vector<ExternalCommand> commands = {
      {"report", "write an HTML report of results (Python part)"},
      {"plot", "plot a result as PNG, SVG or PDF (Python part)"}};
  return commands;
}

bool is_python_command(const std::string& name) {
  const auto& brought = python_commands();
  return std::any_of(brought.begin(), brought.end(),
                     [&](const ExternalCommand& command) { return command.name == name; });
}

Expected<std::optional<std::string>> find_external(const std::string& name) {
  std::optional<Error> refused;
  for (const SearchFolder& folder : search_path()) {
    const fs::path program = folder.path / (prefix + name);
    std::error_code code;
    if (!fs::is_regular_file(program, code) || access(program.c_str(), X_OK) != 0) continue;
    const std::string problem =
        folder.top.empty() ? "" : why_not_trusted(folder.top.string(), program.string());
    if (problem.empty()) return program.string();
    if (!refused) {
      refused =
          Error{ErrorKind::permission, fmt::format("{} is not run: {}", program.string(), problem),
                "NUMATLAS_EXEC_PATH names the folder of programs that you trust"};
    }
  }
  if (refused) return fail(*refused);
  return std::nullopt;
}

std::string how_to_get(const std::string& name) {
  return fmt::format(
      "`numatlas {0}` is in the Python part: scripts/run or `make install-python` sets it up, or "
      "`pip install './python[report]'`; where numatlas-{0} is then not in PATH, "
      "NUMATLAS_EXEC_PATH=FOLDER names its folder, such as VENV/bin",
      name);
}

void name_this_program() {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (!code) setenv("NUMATLAS", self.c_str(), 1);
}

Expected<int> run_external(const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = whole_line(program, arguments);
  name_this_program();
  pid_t child = 0;
  const int code =
      posix_spawn(&child, program.c_str(), nullptr, nullptr, as_argv(words).data(), environ);
  if (code != 0) return fail(start_error(program, code));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(start_error(program, errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Error become_external(const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = whole_line(program, arguments);
  name_this_program();
  (void)std::signal(SIGPIPE, SIG_DFL);  // ignored here, but not in the program
  execv(program.c_str(), as_argv(words).data());
  return start_error(program, errno);
}

}  // namespace numatlas

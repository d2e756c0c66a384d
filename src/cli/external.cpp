#include "cli/external.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

extern char** environ;  // POSIX has it in no header

namespace numatlas {
namespace {

namespace fs = std::filesystem;

const std::string prefix = "numatlas-";

std::vector<fs::path> folders_of(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream text(value == nullptr ? "" : value);
  for (std::string folder; std::getline(text, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

std::vector<fs::path> search_path() {
  std::vector<fs::path> folders = folders_of("NUMATLAS_EXEC_PATH");
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (!code) {
    const fs::path here = self.parent_path();
    folders.push_back(here);
    folders.push_back((here / "../lib/numatlas/python/bin").lexically_normal());
    // Elsewhere that would be somebody else's environment.
    const bool in_build_folder = fs::exists(here / "../CMakeCache.txt", code);
    if (in_build_folder) folders.push_back((here / "../../venv/bin").lexically_normal());
  }
  const std::vector<fs::path> path = folders_of("PATH");
  folders.insert(folders.end(), path.begin(), path.end());
  return folders;
}

/// Words as execv takes them; valid as long as `words`.
std::vector<char*> as_argv(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
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
  return {ErrorKind::unavailable, fmt::format("{}: {}", program, errno_text(code)),
          code == EACCES ? "may you execute it, and the interpreter that its first line names?"
          : of_python ? "its interpreter may be gone: set the Python part up again with scripts/run"
                      : "its first line names an interpreter: is that there?"};
}

}  // namespace

const std::vector<ExternalCommand>& python_commands() {
  static const std::vector<ExternalCommand> commands = {
      {"report", "one page of results to look at, print and pass on (Python part)"},
      {"plot", "a figure of a result as png, svg or pdf (Python part)"}};
  return commands;
}

bool is_python_command(const std::string& name) {
  const auto& brought = python_commands();
  return std::any_of(brought.begin(), brought.end(),
                     [&](const ExternalCommand& command) { return command.name == name; });
}

std::optional<std::string> find_external(const std::string& name) {
  for (const fs::path& folder : search_path()) {
    const fs::path program = folder / (prefix + name);
    std::error_code code;
    if (fs::is_regular_file(program, code) && access(program.c_str(), X_OK) == 0) {
      return program.string();
    }
  }
  return std::nullopt;
}

std::string how_to_get(const std::string& name) {
  return fmt::format(
      "`numatlas {}` is in the Python part: scripts/run or `make install-python` sets it up, or "
      "`pip install ./python`; "
      "NUMATLAS_EXEC_PATH names its folder",
      name);
}

Expected<int> run_external(const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = whole_line(program, arguments);
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
  (void)std::signal(SIGPIPE, SIG_DFL);  // ignored here, but not in the program
  execv(program.c_str(), as_argv(words).data());
  return start_error(program, errno);
}

}  // namespace numatlas

// Commands that are programs of their own, as git has them: `numatlas NAME` runs `numatlas-NAME`.
// The Python part brings `report` and `plot`; measuring needs none of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// A command that the Python part brings.
struct ExternalCommand {
  std::string name, summary;
};
const std::vector<ExternalCommand>& python_commands();
bool is_python_command(const std::string& name);

/// The program "numatlas-NAME": in a folder of NUMATLAS_EXEC_PATH (as PATH is written), beside this
/// program, in a virtual environment that belongs to it (../lib/numatlas/python where it is
/// installed, build/venv of the checkout for a program that lies where it was built), or on PATH.
/// nullopt where there is none. Those that belong to this program must be trusted
/// (base/own_files.h); an error (permission) where the only ones are not.
Expected<std::optional<std::string>> find_external(const std::string& name);

/// What somebody does who wants a command that was not found, in one line.
std::string how_to_get(const std::string& name);

/// Tells programs started from now on where this one is, in NUMATLAS: the Python part calls it for
/// files of earlier versions.
void name_this_program();

/// Runs it and waits: its exit code, or 128 + the signal that ended it.
Expected<int> run_external(const std::string& program, const std::vector<std::string>& arguments);

/// Becomes it. Comes back only with an error (unavailable).
Error become_external(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace numatlas

// Files with code that belong to this program (plug-ins, programs that it starts): where they may
// lie, and whether they are to be trusted. Whoever can put a file there runs code as the user.
#pragma once

#include <string>

namespace numatlas {

/// Folder of the running program; "" where /proc does not tell.
std::string program_folder();

/// The folder that this program was built in, while it still lies there; "" otherwise.
std::string build_folder();

/// Why code in `file` may not be run; "" where it may. Every part of the path from the folder
/// `top`, or from the root for a file that is not in it, down to the file must belong to root, to
/// this user or to the owner of the program, and nobody else may write to it. A group may where it
/// is the program's own, or where the owner is root.
std::string why_not_trusted(const std::string& top, const std::string& file);

}  // namespace numatlas

// Files are written whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// Looks, before any work is done, whether write_whole could write a file: another one can be made
/// beside it (and is taken away again), the path is not a folder. A file that is there stays as it
/// is. `option` is named in the error (kind io or permission).
Expected<void> check_writable(const std::string& path, const std::string& option);

/// A file that an option asks for; no path: it does not.
struct OutputFile {
  std::string option, path;
};
/// The same of all files of a run. Error (usage): one of them is "-", two are the same, or it is
/// one of the files that are read (words that name no file are not).
Expected<void> check_writable(const std::vector<OutputFile>& files,
                              const std::vector<std::string>& read = {});

/// Writes beside the file, flushes to disk, renames; devices and pipes are written directly. What a
/// symbolic link points to is replaced, the link stays. Error: kind io or permission, naming the
/// option.
Expected<void> write_whole(const std::string& path, const std::string& content,
                           const std::string& option);

/// A device, pipe or socket: what is written there cannot be taken back.
bool is_special_file(const std::string& path);

/// To stdout, completely; a closed or full stdout is an error (kind io).
Expected<void> write_stdout(const std::string& text);

}  // namespace numatlas

// What a figure has to be read with. The code decides what programs do; the text is for people.
#pragma once

#include <string>
#include <vector>

namespace numatlas {

/// One matter that readers of a figure have to know.
struct Warning {
  /// Kebab-case, the same wherever the same matter is meant: "virtual-machine", "low-overlap"
  /// (docs/results.md lists them).
  std::string code;
  /// The case, and the worker within it, as people name them: "16MiB base, worker 3"; "" for the
  /// whole run.
  std::string where;
  /// Names no option: programs with other options say it as well.
  std::string text;

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// "where: text", or the text alone.
std::string full_text(const Warning& warning);

/// Each matter once: of many places the first, and how many more. Matters are the same where code
/// and text, but for the numbers in it, are.
std::vector<std::string> counted(const std::vector<Warning>& warnings);

}  // namespace numatlas

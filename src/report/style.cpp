#include "report/style.h"

#include <unistd.h>

#include <cstdlib>

namespace numatlas {

std::string accented(const std::string& text, Accent accent) {
  // Select Graphic Rendition (ECMA-48).
  switch (accent) {
    case Accent::none: break;
    case Accent::remote: return "\x1b[34m" + text + "\x1b[0m";
    case Accent::uncertain: return "\x1b[33m" + text + "\x1b[0m";
    case Accent::bad: return "\x1b[1;31m" + text + "\x1b[0m";
  }
  return text;
}

bool wants_color(std::string_view choice) {
  if (choice != "auto") return choice == "always";
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return (none == nullptr || *none == '\0') && !dumb && isatty(STDOUT_FILENO) == 1;
}

}  // namespace numatlas

#include "base/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace numatlas {
namespace {

bool ascii = false;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }

}  // namespace

std::optional<std::size_t> terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return std::nullopt;
  return size.ws_col > 0 ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

std::size_t width_of_text(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut_to(const std::string& text, std::size_t columns) {
  if (width_of_text(text) <= columns) return text;
  std::string cut;
  std::size_t width = 0;
  for (const char byte : text) {
    if (begins_character(byte) && ++width >= columns) break;
    cut += byte;
  }
  return cut + (columns == 0 ? "" : has_unicode() ? "…" : ".");
}

std::string cut_to_terminal(const std::string& line, int descriptor) {
  const auto columns = terminal_columns(descriptor);
  return columns ? cut_to(line, *columns - 1) : line;
}

bool has_unicode() { return !ascii; }

void set_ascii() { ascii = true; }

bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    locale = value;
    break;
  }
  std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return std::tolower(c); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace numatlas

#include "base/tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "base/text.h"

namespace numatlas {
namespace {
namespace fs = std::filesystem;
}

std::optional<std::string> Tree::text(const std::string& path, std::size_t limit) const {
  const Descriptor file(::open((root_ + path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string content;
  char block[4096];  // sysfs files hold at most a page
  while (content.size() < limit) {
    const auto got = ::read(file.number(), block, std::min(sizeof block, limit - content.size()));
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    content.append(block, static_cast<std::size_t>(got));
  }
  // Device-tree strings end in NUL.
  while (!content.empty() && (content.back() == '\0' || content.back() == '\n' ||
                              content.back() == ' ' || content.back() == '\t')) {
    content.pop_back();
  }
  return content;
}

std::optional<std::string> Tree::line(const std::string& path) const {
  auto found = text(path);
  if (found) found->resize(std::min(found->find('\n'), found->size()));
  return found;
}

std::optional<std::int64_t> Tree::number(const std::string& path) const {
  const auto content = text(path);
  if (!content) return std::nullopt;
  std::string_view digits = trim(*content);
  int base = 10;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    base = 16;
  }
  return whole_number<std::int64_t>(digits, base);
}

std::vector<std::string> Tree::names(const std::string& directory) const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(root_ + directory, error), end; !error && it != end;
       it.increment(error)) {
    found.push_back(it->path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> Tree::link_name(const std::string& path) const {
  std::error_code error;
  const fs::path target = fs::read_symlink(root_ + path, error);
  if (error) return std::nullopt;
  return target.filename().string();
}

std::optional<std::string> Tree::resolved(const std::string& path) const {
  std::error_code error;
  const fs::path target = fs::canonical(root_ + path, error);
  if (error) return std::nullopt;
  return target.string();
}

bool Tree::exists(const std::string& path) const {
  return ::access((root_ + path).c_str(), F_OK) == 0;
}

Tree& running_system() {
  static Tree system("");
  return system;
}

std::optional<int> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const auto value = whole_number<int>(name);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<std::string> value_of(std::string_view text, std::string_view key) {
  for (const std::string& line : split_lines(text)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (trim(std::string_view(line).substr(0, colon)) != key) continue;
    return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return std::nullopt;
}

std::string selected_word(std::string_view text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return std::string(trim(text));
  }
  return std::string(text.substr(open + 1, close - open - 1));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace numatlas

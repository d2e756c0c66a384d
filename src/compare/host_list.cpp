#include "compare/host_list.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace numatlas {
namespace {

/// Parts between commas outside brackets.
std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '[') ++depth;
    if (i < line.size() && line[i] == ']') --depth;
    if (i < line.size() && (depth > 0 || (line[i] != ',' && line[i] != ' ' && line[i] != '\t')))
      continue;
    if (i > from) parts.push_back(line.substr(from, i - from));
    from = i + 1;
  }
  return parts;
}

constexpr std::size_t most_hosts = 1000000;

/// "01-04" -> 01, 02, 03, 04. False where it is no such thing.
bool add_range(std::string_view text, std::vector<std::string>& numbers) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const auto is_number = [](std::string_view one) {
    return !one.empty() && one.size() <= 9 &&
           one.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(low) || !is_number(high)) return false;
  const int first = std::stoi(std::string(low)), last = std::stoi(std::string(high));
  if (last < first || static_cast<std::size_t>(last - first) >= most_hosts) return false;
  for (int number = first; number <= last; ++number)
    numbers.push_back(fmt::format("{:0{}}", number, low.size()));
  return true;
}

/// All names of "rack[1-2]n[01-04]".
bool expand(std::string_view text, std::vector<std::string>& names) {
  std::vector<std::string> all{""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    for (std::string& one : all) one += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return false;
    std::vector<std::string> numbers, longer;
    for (const std::string_view part : parts_of(text.substr(open + 1, close - open - 1)))
      if (!add_range(part, numbers)) return false;
    if (numbers.empty() || all.size() * numbers.size() > most_hosts) return false;
    for (const std::string& one : all)
      for (const std::string& number : numbers) longer.push_back(one + number);
    all = std::move(longer);
    text = text.substr(close + 1);
  }
  names.insert(names.end(), all.begin(), all.end());
  return std::ranges::none_of(
      all, [](const std::string& one) { return one.find_first_of("[]") != std::string::npos; });
}

}  // namespace

Expected<std::vector<std::string>> parse_hosts(std::string_view text) {
  std::vector<std::string> names;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    line = trim(line.substr(0, line.find('#')));
    for (const std::string_view part : parts_of(line))
      if (!expand(part, names))
        return fail(ErrorKind::usage,
                    fmt::format("line {}: '{}' is no list of hosts", number, printable(part)),
                    "write one name a line, or lists such as n[01-04,07]");
  }
  if (names.empty())
    return fail(ErrorKind::usage, "names no host", "write one name a line, or n[01-04,07]");
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace numatlas

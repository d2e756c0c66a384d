#include "base/pretty_json.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace numatlas {
namespace {

using nlohmann::json;

bool is_plain(const json& value) {
  return !value.is_structured() ||
         (value.size() <= 24 && std::none_of(value.begin(), value.end(), [](const json& item) {
            return item.is_structured() && !item.empty();
          }));
}

/// One member per line at the top; below, lines are filled with what is short.
void write(const json& value, std::size_t depth, const std::vector<LongMember>& long_members,
           std::string& text) {
  if (long_members.empty() && is_plain(value)) {
    text += json_line(value);
    return;
  }
  constexpr std::size_t columns = 120, most_in_a_filled_line = 60;
  const bool object = value.is_object();
  text += object ? '{' : '[';
  bool first = true, last_was_short = false;
  std::size_t line_start = 0;
  for (auto item = value.begin(); item != value.end(); ++item) {
    std::string part = object ? json_line(item.key()) + ": " : "";
    const auto is_item = [&](const LongMember& member) { return member.name == item.key(); };
    const auto longer = object ? std::ranges::find_if(long_members, is_item) : long_members.end();
    if (longer == long_members.end()) write(*item, depth + 1, {}, part);
    const bool is_short = depth > 0 && longer == long_members.end() &&
                          part.size() <= most_in_a_filled_line &&
                          part.find('\n') == std::string::npos;
    if (is_short && last_was_short && text.size() - line_start + 2 + part.size() < columns) {
      text += ", ";
    } else {
      text += first ? "\n" : ",\n";
      line_start = text.size();
      text.append(depth + 1, ' ');
    }
    text += part;
    if (longer != long_members.end()) longer->write(text);
    first = false;
    last_was_short = is_short;
  }
  text += '\n';
  text.append(depth, ' ');
  text += object ? '}' : ']';
}

}  // namespace

std::string json_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string pretty(const json& value) { return pretty_part(value, 0) + '\n'; }

std::string pretty_part(const json& value, std::size_t depth,
                        const std::vector<LongMember>& long_members) {
  std::string text;
  write(value, depth, long_members, text);
  return text;
}

}  // namespace numatlas

#include "base/json.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>
#include "base/process_stat.h"
#include "base/text.h"
#include "base/units.h"

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

namespace {

using nlohmann::json;

/// Where text stops making sense, as line and byte; in words where it was cut off.
Error syntax_error(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  if (at >= text.find_last_not_of(" \t\r\n") + 1)
    return {ErrorKind::usage,
            fmt::format("is truncated after {} bytes, in line {}", text.size(), line),
            "was it truncated while being copied, or is the disk full?"};
  return {ErrorKind::usage, fmt::format("is not JSON: line {}, byte {}", line, at + 1), ""};
}

/// Of a text whose value would not fit into what this process may map: told before, as the library
/// ends the program where its destructor has no memory.
std::optional<Error> no_memory_for(std::size_t bytes) {
  constexpr std::uint64_t times = 20;  // "[0]," takes so much, figures a quarter of it
  rlimit mapped{}, data{};
  if (getrlimit(RLIMIT_AS, &mapped) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return std::nullopt;
  if (mapped_memory().value + times * bytes < std::min(mapped.rlim_cur, data.rlim_cur))
    return std::nullopt;
  return Error{ErrorKind::resource,
               fmt::format("not enough memory to read its {}", to_rounded_text(Bytes{bytes})),
               "raise the limits of address space and data (ulimit -v, -d)"};
}

struct TooDeep {};

void make_names_printable(json::object_t& object) {
  for (auto next = object.begin(); next != object.end();) {
    const auto member = next++;
    std::string name = printable(member->first);
    if (name == member->first) continue;
    auto node = object.extract(member);
    node.key() = std::move(name);
    object.insert(std::move(node));
  }
}

/// Told of each value as it is read, which stands so many levels deep.
bool look_at(int depth, json::parse_event_t event, json& value) {
  using Event = json::parse_event_t;
  const bool opens = event == Event::object_start || event == Event::array_start;
  if (opens && depth >= most_json_levels) throw TooDeep();
  if (event == Event::value && value.is_string()) value = printable(value.get_ref<std::string&>());
  if (event == Event::object_end) make_names_printable(value.get_ref<json::object_t&>());
  return true;
}

}  // namespace

Expected<json> parse_json(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorKind::usage, "is empty");
  if (auto short_of = no_memory_for(text.size())) return fail(*std::move(short_of));
  try {
    return json::parse(text, look_at);
  } catch (const json::parse_error& error) {
    return fail(syntax_error(text, error.byte));
  } catch (const json::out_of_range&) {
    return fail(ErrorKind::usage, "is not JSON: it has a number out of range");
  } catch (const TooDeep&) {
    return fail(ErrorKind::usage, fmt::format("is nested deeper than {} levels", most_json_levels));
  }
}

}  // namespace numatlas

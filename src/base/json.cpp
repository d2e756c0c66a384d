#include "base/json.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>
#include "base/text.h"

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

/// Leaves an empty value behind. Calls itself as often as there are levels.
void empty(json& value) {
  if (auto* const array = value.get_ptr<json::array_t*>()) {
    for (json& item : *array) empty(item);
    array->clear();
  } else if (auto* const object = value.get_ptr<json::object_t*>()) {
    for (auto& [name, item] : *object) empty(item);
    object->clear();
  }
}

/// Builds the value from what the parser reads. json::parse would do, but for what is different
/// here: printable texts, a limit of levels, and a value that can be dropped without memory.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(const std::string& text) : text_(text) {}

  JsonDocument document{new json()};
  std::optional<Error> error;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(json::number_integer_t value) override { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return add(value); }
  bool number_float(json::number_float_t value, const std::string& /*text*/) override {
    return add(value);
  }
  bool string(std::string& value) override { return add(printable(value)); }
  bool binary(json::binary_t& /*value*/) override { return false; }  // not in text
  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    name_ = printable(name);
    return true;
  }
  bool parse_error(std::size_t byte, const std::string& /*token*/,
                   const json::exception& problem) override {
    constexpr int out_of_range = 406;
    error = problem.id == out_of_range
                ? Error{ErrorKind::usage, "is not JSON: it has a number out of range", ""}
                : syntax_error(text_, byte);
    return false;
  }

 private:
  /// Puts a value where it belongs.
  json* place(json value) {
    if (levels_.empty()) return &(*document = std::move(value));
    json& parent = *levels_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    json& member = parent[name_];
    empty(member);  // a name may stand twice
    return &(member = std::move(value));
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    if (levels_.size() >= most_json_levels) {
      error = Error{ErrorKind::usage,
                    fmt::format("is nested deeper than {} levels", most_json_levels), ""};
      return false;
    }
    levels_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  const std::string& text_;
  std::vector<json*> levels_;  ///< open objects and arrays; stay where they are while they are open
  std::string name_;
};

}  // namespace

void DropJson::operator()(json* value) const noexcept {
  empty(*value);
  delete value;
}

Expected<JsonDocument> parse_json(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorKind::usage, "is empty");
  Builder builder(text);
  if (json::sax_parse(text, &builder)) return std::move(builder.document);
  return fail(*builder.error);
}

}  // namespace numatlas

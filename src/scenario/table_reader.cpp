#include "scenario/table_reader.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "base/whole.h"

namespace numatlas {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view starts_key =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"']";  // "[]" is told well

using Found = std::optional<std::pair<std::size_t, const char*>>;

Found bad_head(std::string_view line) {
  std::size_t at = std::min(line.find_first_not_of(blanks), line.size());
  if (!line.substr(at).starts_with('[')) return std::nullopt;
  at += line.substr(at).starts_with("[[") ? 2 : 1;
  at = std::min(line.find_first_not_of(blanks, at), line.size());
  if (at < line.size() && starts_key.find(line[at]) != std::string_view::npos) return std::nullopt;
  return std::pair{at, "expected a name after '['"};
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) <= 0x7f; }

/// Behind the text in quotes that starts at `at`, or the end of the line.
std::size_t after_text(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (++at; at < line.size() && line[at] != quote; ++at) {
    if (quote == '"' && line[at] == '\\') ++at;
  }
  return std::min(at + 1, line.size());
}

/// Where the line's comment starts, or its end.
std::size_t comment_start(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && line[at] != '#') {
    const bool quote = line[at] == '"' || line[at] == '\'';
    at = quote ? after_text(line, at) : at + 1;
  }
  return at;
}

Found bad_character(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (!is_ascii(line[at]))
      return std::pair{at, "non-ASCII letter outside a comment; in quotes, write it as \\u00e9"};
  }
  return std::nullopt;
}

/// What earlier lines left open.
struct Open {
  std::string brackets;
  char text = 0;  ///< the quote of a text over several lines
};

/// A '}' in an array, where a value or the array's end is due.
Found stray_brace(std::string_view line, Open& open) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (open.text != 0) {
      at = line.find(std::string(3, open.text), at);
      if (at == line.npos) return std::nullopt;
      at += 2;
      open.text = 0;
      continue;
    }
    const char c = line[at];
    const bool quote = c == '"' || c == '\'';
    if (quote && line.substr(at, 3) == std::string(3, c)) {
      open.text = c;
      at += 2;
    } else if (quote) {
      at = after_text(line, at) - 1;
    } else if (c == '[' || c == '{') {
      open.brackets += c;
    } else if (c == '}' && !open.brackets.empty() && open.brackets.back() == '[') {
      return std::pair{at, "'}' closes no '{'"};
    } else if ((c == ']' || c == '}') && !open.brackets.empty()) {
      open.brackets.pop_back();
    }
  }
  return std::nullopt;
}

const char* name_of(toml::node_type type) {
  switch (type) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a number with a point";
    case toml::node_type::boolean: return "true or false";
    default: return "a date or time";
  }
}

}  // namespace

tl::expected<std::string, UnsafePlace> safe_text(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors put it first
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::string safe;
  Open open;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t comment = comment_start(line);
    Found found = bad_head(line);
    if (!found) found = bad_character(line.substr(0, comment));
    if (!found) found = stray_brace(line.substr(0, comment), open);
    if (found) return tl::unexpected(UnsafePlace{number, found->first + 1, found->second});
    safe += line.substr(0, comment);
    for (char c : line.substr(comment)) safe += is_ascii(c) ? c : '?';
    if (end < text.size()) safe += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return safe;
}

std::string place_text(const std::string& file, const toml::source_position& position) {
  return position.line == 0 ? file : fmt::format("{}:{}:{}", file, position.line, position.column);
}

std::string meant_text(const std::string& word, const std::vector<std::string>& names,
                       const std::string& otherwise) {
  const std::string close = nearest_name(word, names);
  return close.empty() ? otherwise : fmt::format("did you mean {}?", close);
}

std::string with_values(std::string text, const AxisValues& values) {
  for (const auto& [axis, value] : values) {
    const std::string word = "{" + axis + "}";
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  }
  return text;
}

TableReader::TableReader(const toml::table& table, const std::string& file, const std::string& what,
                         const std::vector<std::string>& known, Places& places, AxisValues values)
    : table_(table), what_(what), places_(places), values_(std::move(values)) {
  places_.of[""] = place_text(file, table.source().begin);
  // A table keeps its keys by name: of several that are unknown the first in the file is told.
  const toml::key* unknown = nullptr;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    places_.of[name] = place_text(file, key.source().begin);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (unknown == nullptr || key.source().begin < unknown->source().begin) unknown = &key;
  }
  if (unknown == nullptr) return;
  const std::string name(unknown->str());
  error_ = Error{ErrorKind::usage, fmt::format("unknown key '{}' of {}", name, what_),
                 meant_text(name, known, fmt::format("its keys are {}", fmt::join(known, ", "))),
                 places_.of[name]};
}

void TableReader::wrong(const std::string& key, const Error& error) {
  if (!error_) error_ = error_at(places_, key, error);
}

void TableReader::wrong_type(const std::string& key, const char* wanted) {
  wrong(key, fmt::format("expected {}, not {}", wanted, name_of(node(key)->type())));
}

void TableReader::need(const std::string& key) {
  if (has(key) || error_) return;
  error_ = Error{ErrorKind::usage, fmt::format("{}: key '{}' is missing", what_, key), "",
                 places_.of[""]};
}

std::optional<std::string> TableReader::text(const std::string& key) {
  const auto* const value = typed<std::string>(key, "a text in \"\"");
  if (value == nullptr) return std::nullopt;
  // Names and places of memory are shown as they are written.
  if (printable(value->get()) == value->get()) return with_values(value->get(), values_);
  wrong(key, "expected one line of text without control characters");
  return std::nullopt;
}

std::vector<std::string> TableReader::words(const std::string& key) {
  const auto* const list = typed<toml::array>(key, "a list in []");
  std::vector<std::string> words;
  if (list == nullptr) return words;
  for (const toml::node& item : *list) {
    if (const auto* const text = item.as_string();
        text != nullptr && text->get() == printable(**text))
      words.push_back(with_values(text->get(), values_));
    else if (item.is_number())
      words.push_back(item.is_integer() ? fmt::format("{}", *item.value<std::int64_t>())
                                        : fmt::format("{}", *item.value<double>()));
    else
      wrong(key, "expected a list of texts in \"\" or numbers");
  }
  if (words.empty()) wrong(key, "the list is empty");
  return words;
}

std::optional<std::int64_t> TableReader::whole(const std::string& key) {
  const toml::node* const found = node(key);
  const auto* const word = found == nullptr ? nullptr : found->as_string();
  if (word != nullptr && with_values(word->get(), values_) != word->get())
    return read(key, [](const std::string& text) {
      return parse_whole<std::int64_t>(text, INT64_MIN, INT64_MAX, "");
    });
  const auto* const value = typed<std::int64_t>(key, "a whole number");
  return value == nullptr ? std::nullopt : std::optional(value->get());
}

std::optional<bool> TableReader::flag(const std::string& key) {
  const auto* const value = typed<bool>(key, "true or false");
  return value == nullptr ? std::nullopt : std::optional(value->get());
}

const toml::table* TableReader::table(const std::string& key) {
  return typed<toml::table>(key, "a table in {}");
}

std::vector<const toml::table*> TableReader::tables(const std::string& key) {
  const toml::node* const found = node(key);
  if (found == nullptr) return {};
  const auto* const array = found->as_array();
  if (array == nullptr || array->empty() || !array->is_homogeneous(toml::node_type::table)) {
    wrong(key, "expected one or more tables",
          fmt::format("start each with [[{}]]", key == "flow" ? "scenario.flow" : key));
    return {};
  }
  std::vector<const toml::table*> tables;
  for (const toml::node& item : *array) tables.push_back(item.as_table());
  return tables;
}

}  // namespace numatlas

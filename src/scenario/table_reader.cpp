#include "scenario/table_reader.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "base/whole.h"

namespace numatlas {
namespace {

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

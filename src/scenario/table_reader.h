// One table of a TOML file, key by key: the first thing that is wrong is kept with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "scenario/scenario_file.h"

namespace numatlas {

/// "FILE:LINE:COLUMN"; of a table that was not read from a file, `file`.
std::string place_text(const std::string& file, const toml::source_position& position);

/// What somebody meant who wrote a word that is none of `names`; `otherwise` where none is near.
std::string meant_text(const std::string& word, const std::vector<std::string>& names,
                       const std::string& otherwise = {});

class TableReader {
 public:
  /// Notes the places of its keys. A key that is not `known` is wrong. `what` names the table. In
  /// texts "{axis}" is the value of that axis.
  TableReader(const toml::table& table, const std::string& file, const std::string& what,
              const std::vector<std::string>& known, Places& places, AxisValues values = {});

  bool has(const std::string& key) const { return table_.contains(key); }
  /// Absent where the key is, or where it is wrong.
  std::optional<std::string> text(const std::string& key);
  /// The texts and numbers of a list, one at least, as they are written; none where it is wrong.
  std::vector<std::string> words(const std::string& key);
  template <class T>
  std::optional<T> whole(const std::string& key, std::int64_t low, std::int64_t high) {
    const auto value = whole(key);
    if (!value) return std::nullopt;
    if (*value >= low && *value <= high) return static_cast<T>(*value);
    wrong(key, fmt::format("{} is not from {} to {}", *value, low, high));
    return std::nullopt;
  }
  std::optional<bool> flag(const std::string& key);
  const toml::table* table(const std::string& key);
  /// The tables of an array of them ([[key]]).
  std::vector<const toml::table*> tables(const std::string& key);
  /// A text as `parse` reads it.
  template <class Parse>
  auto read(const std::string& key, const Parse& parse)
      -> std::optional<typename decltype(parse(std::string()))::value_type> {
    const auto words = text(key);
    if (!words) return std::nullopt;
    auto value = parse(*words);
    if (value) return *value;
    wrong(key, value.error());
    return std::nullopt;
  }
  /// The key's node where there is one, whatever its type.
  const toml::node* node(const std::string& key) const { return table_.get(key); }

  void need(const std::string& key);
  void wrong(const std::string& key, const Error& error);
  void wrong(const std::string& key, const std::string& message, const std::string& hint = {}) {
    wrong(key, Error{ErrorKind::usage, message, hint});
  }
  /// What went wrong in a table that is one of its values.
  void wrong_within(const TableReader& inner) { error_ = error_ ? error_ : inner.error_; }
  /// What went wrong first.
  const std::optional<Error>& error() const { return error_; }

 private:
  /// The key's node where it is of this type; nullptr where the key is absent, or wrong.
  template <class T>
  auto typed(const std::string& key, const char* wanted)
      -> decltype(std::declval<const toml::node&>().as<T>()) {
    const toml::node* const found = node(key);
    auto* const value = found == nullptr ? nullptr : found->as<T>();
    if (found != nullptr && value == nullptr) wrong_type(key, wanted);
    return value;
  }
  void wrong_type(const std::string& key, const char* wanted);
  /// Also of a text that is no more than "{axis}".
  std::optional<std::int64_t> whole(const std::string& key);

  const toml::table& table_;
  std::string what_;
  Places& places_;
  AxisValues values_;
  std::optional<Error> error_;
};

/// Where a text has what toml++ must not be given: some releases (3.3, as in Debian 12) take
/// certain malformed texts for granted and do not survive them, or what follows is undefined.
struct UnsafePlace {
  std::size_t line, column;  ///< from 1; bytes
  const char* what;
};

/// The text as it can be parsed, with every place where it was: in comments what is not ASCII is
/// replaced. Refused, as no file of scenarios needs it: bytes outside ASCII anywhere else (texts
/// have \u00e9), a table's head that starts with no key ("[=", "[[" alone), and "}" in an array.
tl::expected<std::string, UnsafePlace> safe_text(std::string_view text);

}  // namespace numatlas

// One list of fields for each type that JSON files have. From this list come the JSON writer, the
// reader (whose errors name the field by its path) and the JSON Schema, so that a field cannot be
// written and not read.
//
// A type takes part by a function beside it, found by its argument:
//   void list_fields(auto& f, Of<Point> auto& p) { f("x", p.x, "position in metres"); }
// and an enumeration by `EnumNames<E>`. Absent is null, never 0 or NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/units.h"

namespace numatlas::fields {

using nlohmann::json;

/// What a list of fields takes: a T, constant where it is written.
template <class Value, class T>
concept Of = std::is_same_v<std::remove_const_t<Value>, T>;

/// Specialised by enumerations: `static constexpr EnumName<E> values[] = {{E::a, "a"}, ...}`.
template <class E>
struct EnumNames;
template <class E>
using EnumName = std::pair<E, const char*>;

/// Files and command lines may have bytes that are not UTF-8: these cannot stand in JSON.
json as_utf8(const std::string& text);

/// A number without digits that nobody measured: seven significant ones.
double rounded(double value);

/// While one lives, numbers of this thread are written with all their digits.
class ExactNumbers {
 public:
  ExactNumbers();
  ~ExactNumbers();
  ExactNumbers(const ExactNumbers&) = delete;
  ExactNumbers& operator=(const ExactNumbers&) = delete;
};

/// While one lives, what this thread writes is for another rank: numbers have all their digits, and
/// fields are there that no file has (`inner`), of which sums and samples are made.
class InTransit {
 public:
  InTransit();
  ~InTransit();
  InTransit(const InTransit&) = delete;
  InTransit& operator=(const InTransit&) = delete;
  static bool now();

 private:
  ExactNumbers exact_;
};

/// The first problem of a document: the path of its field and why it cannot be used.
struct Problem {
  std::string path, why;
};

/// Where a value stands in a document, and the problem found so far. Each knows the one that it
/// stands in, which outlives it: its path is written out only where something is wrong.
class Place {
 public:
  Place(std::string_view name, std::optional<Problem>& problem) : name_(name), problem_(problem) {}
  Place at(std::string_view name) const { return {*this, name, std::nullopt}; }
  Place at(std::size_t index) const { return {*this, "", index}; }
  void reject(std::string why) const {
    if (!problem_) problem_ = Problem{path(), std::move(why)};
  }
  bool failed() const { return problem_.has_value(); }

 private:
  Place(const Place& outer, std::string_view name, std::optional<std::size_t> index)
      : outer_(&outer), name_(name), index_(index), problem_(outer.problem_) {}
  std::string path() const {
    const std::string outer = outer_ != nullptr ? outer_->path() : "";
    if (index_) return outer + "[" + std::to_string(*index_) + "]";
    return outer + (outer.empty() ? "" : ".") + std::string(name_);
  }

  const Place* outer_ = nullptr;
  std::string_view name_;             ///< of a member
  std::optional<std::size_t> index_;  ///< of an item
  std::optional<Problem>& problem_;
};

class Writer;
template <class T>
concept HasFields = std::is_class_v<T> && requires(Writer& writer, const T& value) {
  list_fields(writer, value);
};
/// What has to hold between fields: `std::string problem_of(const T&)`, "" where all is well.
template <class T>
concept HasCheck = requires(const T& value) {
  problem_of(value);
};
/// std::optional, and Boxed.
template <class T>
concept Nullable = requires(T value) {
  typename T::value_type;
  value.has_value();
  value.reset();
};
template <class T>
concept Enumeration = std::is_enum_v<T>;

// ---- out

json to_json(double value);             ///< null for what is no number
json to_json(const std::string& text);  ///< null for ""
json to_json(const Bytes& bytes);       ///< null for 0: no memory is that small
/// Of what may be absent, no text and 0 bytes are facts.
json to_json(const std::optional<std::string>& text);
json to_json(const std::optional<Bytes>& bytes);
/// null where it is not known (-1).
template <class Tag>
json to_json(const Id<Tag>& id) {
  return id.value < 0 ? json(nullptr) : json(id.value);
}
template <class I>
json to_json(const IdSet<I>& ids) {
  return to_list(ids);  // the kernel's format
}
template <class T>
requires(std::is_integral_v<T>) json to_json(const T& value) { return value; }
/// Names with texts, as an object.
using Labels = std::vector<std::pair<std::string, std::string>>;
json to_json(const Labels& labels);
template <Enumeration E>
json to_json(const E& value);
template <HasFields T>
json to_json(const T& value);
template <Nullable T>
json to_json(const T& value);
template <class T>
json to_json(const std::vector<T>& values);
template <class T>
json to_json(const std::map<std::string, T>& values);
template <class T>
json to_json(const std::map<int, T>& values);
template <class A, class B>
json to_json(const std::pair<A, B>& values);

class Writer {
 public:
  static constexpr bool writes = true;
  template <class T>
  void operator()(const char* name, const T& value, const char* /*help*/ = "") {
    object_[name] = to_json(value);
  }
  /// A field that results of earlier versions lack.
  template <class T>
  void later(const char* name, const T& value, const char* help) {
    (*this)(name, value, help);
  }
  /// A field that only ranks send each other.
  template <class T>
  void inner(const char* name, const T& value) {
    if (InTransit::now()) (*this)(name, value, "");
  }
  /// A field that is there only where there is something.
  template <class T>
  void sparse(const char* name, const T& value, const char* /*help*/ = "") {
    if (!(value == T{})) object_[name] = to_json(value);
  }
  json take() { return std::move(object_); }

 protected:
  json object_ = json::object();
};

/// As the record writes an enumeration's value.
template <Enumeration E>
const char* name_in_record(E value) {
  for (const auto& [one, name] : EnumNames<E>::values)
    if (one == value) return name;
  return "";
}
template <Enumeration E>
json to_json(const E& value) {
  return name_in_record(value);
}
template <HasFields T>
json to_json(const T& value) {
  Writer writer;
  list_fields(writer, value);
  return writer.take();
}
template <Nullable T>
json to_json(const T& value) {
  return value ? to_json(*value) : json(nullptr);
}
template <class T>
json to_json(const std::vector<T>& values) {
  json array = json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}
template <class T>
json to_json(const std::map<std::string, T>& values) {
  json object = json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}
template <class T>
json to_json(const std::map<int, T>& values) {
  json object = json::object();
  for (const auto& [name, value] : values) object[std::to_string(name)] = to_json(value);
  return object;
}
template <class A, class B>
json to_json(const std::pair<A, B>& values) {
  return json::array({to_json(values.first), to_json(values.second)});
}

// ---- in

void from_json(const json& value, const Place& place, bool& out);
void from_json(const json& value, const Place& place, double& out);
void from_json(const json& value, const Place& place, std::string& out);
void from_json(const json& value, const Place& place, Bytes& out);
template <class Tag>
void from_json(const json& value, const Place& place, Id<Tag>& out);
template <class I>
void from_json(const json& value, const Place& place, IdSet<I>& out);
void from_json(const json& value, const Place& place, Labels& out);
/// Whole numbers from `least` to `most`.
std::optional<std::int64_t> whole_from(const json& value, const Place& place, std::int64_t least,
                                       std::int64_t most);
std::optional<std::uint64_t> count_from(const json& value, const Place& place);
// Templates find each other by the namespace of Place.

class Reader {
 public:
  static constexpr bool writes = false;
  /// `beside`: an object that has the members which this one does not have; nullptr for none.
  Reader(const json& object, const Place& place, const json* beside = nullptr)
      : object_(object), beside_(beside), place_(place) {}
  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/ = "") {
    if (const json* const it = member(name)) from_json(*it, place_.at(name), value);
  }
  /// Stays as it is where the result is of an earlier version.
  template <class T>
  void later(const char* name, T& value, const char* help) {
    if (find(name) != nullptr) (*this)(name, value, help);
  }
  template <class T>
  void inner(const char* name, T& value) {
    if (InTransit::now()) (*this)(name, value, "");
  }
  template <class T>
  void sparse(const char* name, T& value, const char* help = "") {
    later(name, value, help);
  }

 protected:
  /// nullptr where it is missing, which is an error, and after any other error.
  const json* member(const char* name);

 private:
  const json* find(const char* name) const {
    if (const auto it = object_.find(name); it != object_.end()) return &*it;
    if (beside_ == nullptr) return nullptr;
    const auto it = beside_->find(name);
    return it != beside_->end() ? &*it : nullptr;
  }

  const json& object_;
  const json* beside_;
  const Place& place_;
};

template <class T>
requires(std::is_integral_v<T> &&
         !std::is_same_v<T, bool>) void from_json(const json& value, const Place& place, T& out) {
  if constexpr (std::is_unsigned_v<T>) {
    if (const auto read = count_from(value, place)) out = static_cast<T>(*read);
  } else {
    if (const auto read =
            whole_from(value, place, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()))
      out = static_cast<T>(*read);
  }
}
template <Enumeration E>
void from_json(const json& value, const Place& place, E& out) {
  std::string names;
  for (const auto& [one, name] : EnumNames<E>::values) {
    if (value == name) {
      out = one;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  place.reject("must be one of " + names);
}
template <HasFields T>
void from_json(const json& value, const Place& place, T& out) {
  if (!value.is_object()) return place.reject("must be an object");
  Reader reader(value, place);
  list_fields(reader, out);
  if constexpr (HasCheck<T>) {
    if (place.failed()) return;
    if (const std::string problem = problem_of(out); !problem.empty()) place.reject(problem);
  }
}
template <Nullable T>
void from_json(const json& value, const Place& place, T& out) {
  out.reset();
  if (value.is_null()) return;
  typename T::value_type read{};
  from_json(value, place, read);
  if (!place.failed()) out = std::move(read);
}
template <class T>
void from_json(const json& value, const Place& place, std::vector<T>& out) {
  out.clear();
  if (!value.is_array()) return place.reject("must be an array");
  for (std::size_t i = 0; i < value.size() && !place.failed(); ++i)
    from_json(value[i], place.at(i), out.emplace_back());
}
template <class T>
void from_json(const json& value, const Place& place, std::map<std::string, T>& out) {
  out.clear();
  if (!value.is_object()) return place.reject("must be an object");
  for (const auto& [name, item] : value.items()) from_json(item, place.at(name), out[name]);
}
template <class T>
void from_json(const json& value, const Place& place, std::map<int, T>& out) {
  out.clear();
  if (!value.is_object()) return place.reject("must be an object");
  for (const auto& [name, item] : value.items()) {
    const auto number =
        whole_from(json::parse(name, nullptr, false), place.at(name),
                   std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    if (!number) return;
    from_json(item, place.at(name), out[static_cast<int>(*number)]);
  }
}
template <class Tag>
void from_json(const json& value, const Place& place, Id<Tag>& out) {
  out.value = -1;
  if (value.is_null()) return;
  if (const auto read = whole_from(value, place, 0, most_id)) out.value = static_cast<int>(*read);
}
template <class I>
void from_json(const json& value, const Place& place, IdSet<I>& out) {
  if (!value.is_string()) return place.reject("must be a string");
  auto set = parse_list<I>(value.get<std::string>());
  if (!set) return place.reject(full_text(set.error()));
  out = *std::move(set);
}
template <class A, class B>
void from_json(const json& value, const Place& place, std::pair<A, B>& out) {
  if (!value.is_array() || value.size() != 2) return place.reject("must be an array of two");
  from_json(value[0], place.at(std::size_t{0}), out.first);
  from_json(value[1], place.at(std::size_t{1}), out.second);
}

// ---- the schema (JSON Schema, draft 2020-12)

template <class T>
struct Tag {};

/// Collects the fields' schemas of one type; `T` is only named, never made.
class SchemaWriter {
 public:
  static constexpr bool writes = false;
  template <class T>
  void operator()(const char* name, T& /*value*/, const char* help) {
    properties_[name] = schema_of(Tag<std::remove_const_t<T>>{});
    properties_[name]["description"] = help;
    required_.push_back(name);
  }
  template <class T>
  void later(const char* name, T& value, const char* help) {
    (*this)(name, value, help);
    required_.erase(required_.size() - 1);
  }
  template <class T>
  void inner(const char* /*name*/, T& /*value*/) {}
  template <class T>
  void sparse(const char* name, T& value, const char* help = "") {
    later(name, value, help);
  }
  json take() {
    return {{"type", "object"},
            {"properties", std::move(properties_)},
            {"required", std::move(required_)},
            // A field that a later version adds does not make a file invalid.
            {"additionalProperties", true}};
  }

 private:
  json properties_ = json::object();
  json required_ = json::array();
};

inline json nullable(json schema) { return {{"anyOf", {std::move(schema), {{"type", "null"}}}}}; }
inline json schema_of(Tag<bool>) { return {{"type", "boolean"}}; }
inline json schema_of(Tag<double>) { return {{"type", json::array({"number", "null"})}}; }
inline json schema_of(Tag<std::string>) { return {{"type", json::array({"string", "null"})}}; }
inline json schema_of(Tag<Bytes>) {
  return {{"type", json::array({"integer", "null"})}, {"minimum", 0}};
}
inline json schema_of(Tag<Labels>) {
  return {{"type", "object"},
          {"additionalProperties", {{"type", json::array({"string", "null"})}}}};
}
inline json schema_of(Tag<CpuId>) { return {{"type", "integer"}}; }
inline json schema_of(Tag<NodeId>) { return {{"type", json::array({"integer", "null"})}}; }
template <class I>
json schema_of(Tag<IdSet<I>>) {
  return {{"type", "string"}, {"pattern", "^[0-9,-]*$"}};
}
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) json schema_of(Tag<T>) {
  json schema{{"type", "integer"}};
  if (std::is_unsigned_v<T>) schema["minimum"] = 0;
  return schema;
}
template <Enumeration E>
json schema_of(Tag<E>) {
  json names = json::array();
  for (const auto& [one, name] : EnumNames<E>::values) names.push_back(name);
  return {{"enum", names}};
}
template <HasFields T>
json schema_of(Tag<T>) {
  SchemaWriter writer;
  T value{};
  list_fields(writer, value);
  return writer.take();
}
template <class A, class B>
json schema_of(Tag<std::pair<A, B>>) {
  return {{"type", "array"},
          {"prefixItems", {schema_of(Tag<A>{}), schema_of(Tag<B>{})}},
          {"minItems", 2},
          {"maxItems", 2}};
}
template <Nullable T>
json schema_of(Tag<T>) {
  return nullable(schema_of(Tag<typename T::value_type>{}));
}
template <class T>
json schema_of(Tag<std::vector<T>>) {
  return {{"type", "array"}, {"items", schema_of(Tag<T>{})}};
}
template <class T>
json schema_of(Tag<std::map<std::string, T>>) {
  return {{"type", "object"}, {"additionalProperties", schema_of(Tag<T>{})}};
}
template <class T>
json schema_of(Tag<std::map<int, T>>) {
  return {{"type", "object"},
          {"propertyNames", {{"pattern", "^-?[0-9]+$"}}},
          {"additionalProperties", schema_of(Tag<T>{})}};
}

}  // namespace numatlas::fields

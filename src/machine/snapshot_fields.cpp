#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "machine/snapshot_reader.h"

namespace numatlas {

using nlohmann::json;

FieldReader::FieldReader(const json& object, std::string path, std::optional<Error>& error)
    : object_(object), path_(std::move(path)), error_(error) {
  if (!error_ && !object_.is_object()) reject("", "must be an object");
}

std::string FieldReader::path_of(const std::string& name) const {
  return path_.empty() || name.empty() ? path_ + name : path_ + "." + name;
}

void FieldReader::reject(const std::string& name, const std::string& why) {
  if (error_) return;
  const std::string path = path_of(name);
  error_ = Error{ErrorKind::usage,
                 fmt::format("{} {}", path.empty() ? "the snapshot" : "field '" + path + "'", why),
                 "is it a snapshot of 'numatlas topology --format json'?"};
}

const json* FieldReader::field(const char* name, bool optional) {
  if (error_) return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end()) {
    reject(name, "is missing");
    return nullptr;
  }
  if (!found->is_null()) return &*found;
  if (!optional) reject(name, "must not be null");
  return nullptr;
}

void FieldReader::text(const char* name, std::string& out) {
  const json* found = field(name);
  if (found == nullptr) return;
  if (!found->is_string()) return reject(name, "must be a string");
  out = found->get<std::string>();
}

void FieldReader::whole(const char* name, int& out, int least, int most) {
  std::optional<int> value;
  if (field(name) == nullptr) return;
  whole(name, value, least, most);
  if (value) out = *value;
}

void FieldReader::whole_or_none(const char* name, int& out, int least, int most) {
  std::optional<int> value;
  whole(name, value, least, most);
  out = value.value_or(-1);
}

void FieldReader::whole(const char* name, std::optional<int>& out, int least, int most) {
  const json* found = field(name, true);
  if (found == nullptr) return;
  // Unsigned first: a number over 2^63 would turn negative in the signed reading.
  const bool small = found->is_number_integer() &&
                     (!found->is_number_unsigned() ||
                      found->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT32_MAX));
  if (!small || found->get<std::int64_t>() < least || found->get<std::int64_t>() > most) {
    return reject(name, fmt::format("must be a whole number from {} to {}", least, most));
  }
  out = found->get<int>();
}

void FieldReader::count(const char* name, std::uint64_t& out) {
  const json* found = field(name);
  if (found == nullptr) return;
  if (!found->is_number_integer() ||
      (!found->is_number_unsigned() && found->get<std::int64_t>() < 0)) {
    return reject(name, "must be a whole number of 0 or more");
  }
  out = found->get<std::uint64_t>();
}

void FieldReader::bytes(const char* name, Bytes& out) { count(name, out.value); }

void FieldReader::bytes(const char* name, std::optional<Bytes>& out) {
  if (field(name, true) == nullptr) return;
  Bytes value;
  bytes(name, value);
  if (!error_) out = value;
}

void FieldReader::real(const char* name, std::optional<double>& out) {
  const json* found = field(name, true);
  if (found == nullptr) return;
  if (!found->is_number() || !std::isfinite(found->get<double>()) || found->get<double>() < 0) {
    return reject(name, "must be a number of 0 or more");
  }
  out = found->get<double>();
}

void FieldReader::node(const char* name, std::optional<NodeId>& out) {
  constexpr int most = 1 << 20;  // as base/ids reads lists
  std::optional<int> value;
  whole(name, value, 0, most);
  if (value) out = NodeId{*value};
}

}  // namespace numatlas

#include "base/fields.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace numatlas::fields {

json as_utf8(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) continue;
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  return text;
}

double rounded(double value) {
  // Sizes in whole KiB stay exact.
  if (!std::isfinite(value) || std::fmod(value, 1024) == 0) return value;
  std::array<char, 32> text;
  constexpr int digits = 7;
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, digits - 1).ptr;
  std::from_chars(text.begin(), end, value);
  return value;
}

namespace {
thread_local int exact_numbers = 0;
thread_local int in_transit = 0;
}  // namespace

ExactNumbers::ExactNumbers() { ++exact_numbers; }
ExactNumbers::~ExactNumbers() { --exact_numbers; }
InTransit::InTransit() { ++in_transit; }
InTransit::~InTransit() { --in_transit; }
bool InTransit::now() { return in_transit > 0; }

json to_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  return exact_numbers > 0 ? value : rounded(value);
}
json to_json(const std::string& text) { return text.empty() ? json(nullptr) : as_utf8(text); }
json to_json(const Bytes& bytes) { return bytes.value == 0 ? json(nullptr) : json(bytes.value); }
json to_json(const std::optional<std::string>& text) {
  return text ? as_utf8(*text) : json(nullptr);
}
json to_json(const std::optional<Bytes>& bytes) {
  return bytes ? json(bytes->value) : json(nullptr);
}
json to_json(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, text] : labels) object[name] = to_json(text);
  return object;
}

void from_json(const json& value, const Place& place, bool& out) {
  if (!value.is_boolean()) return place.reject("must be true or false");
  out = value.get<bool>();
}

void from_json(const json& value, const Place& place, double& out) {
  if (value.is_null()) {
    out = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    return place.reject("must be a number");
  out = value.get<double>();
}

void from_json(const json& value, const Place& place, std::string& out) {
  out.clear();
  if (value.is_null()) return;
  if (!value.is_string()) return place.reject("must be a string");
  out = value.get<std::string>();
}

std::optional<std::int64_t> whole_from(const json& value, const Place& place, std::int64_t least,
                                       std::int64_t most) {
  // Unsigned first: a number over 2^63 would turn negative in the signed reading.
  const bool in_range = value.is_number_integer() &&
                        (!value.is_number_unsigned() ||
                         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)) &&
                        value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
  if (in_range) return value.get<std::int64_t>();
  place.reject(fmt::format("must be a whole number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<std::uint64_t> count_from(const json& value, const Place& place) {
  if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0))
    return value.get<std::uint64_t>();
  place.reject("must be a whole number of 0 or more");
  return std::nullopt;
}

void from_json(const json& value, const Place& place, Bytes& out) {
  out = {};
  if (value.is_null()) return;
  if (const auto read = count_from(value, place)) out.value = *read;
}

void from_json(const json& value, const Place& place, Labels& out) {
  out.clear();
  if (!value.is_object()) return place.reject("must be an object");
  for (const auto& [name, text] : value.items()) {
    out.emplace_back(name, "");
    from_json(text, place.at(name), out.back().second);
  }
}

const json* Reader::member(const char* name) {
  if (place_.failed()) return nullptr;
  const json* const it = find(name);
  if (it == nullptr) place_.at(name).reject("is missing");
  return it;
}

}  // namespace numatlas::fields

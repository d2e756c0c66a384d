#include "base/size_list.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace numatlas {
namespace {

constexpr const char* forms =
    "use whole MiB or a unit: 512, 48KiB, a range of powers of two such as 1-2048 or 32KiB-2GiB, "
    "or a list such as 64,128,300";

tl::unexpected<Error> bad_size(const std::string& what) {
  return fail_usage("--size", what, forms);
}

Expected<Bytes> parse_one(std::string_view text) {
  const auto bytes = parse_bytes(text, mib);
  if (!bytes) return bad_size(bytes.error().message);
  const bool bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (bare && bytes->value % mib != 0) return bad_size(fmt::format("'{}' is not whole MiB", text));
  return *bytes;
}

Expected<std::vector<Bytes>> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == 0) return bad_size(fmt::format("'{}' is negative or has no start", text));
  // "1-64MiB": a bare start takes the end's unit only when it is MiB, so no guessing here.
  const auto low = TRY(parse_one(text.substr(0, dash)));
  const auto high = TRY(parse_one(text.substr(dash + 1)));
  if (high < low) return bad_size(fmt::format("the range '{}' ends before it starts", text));
  std::vector<Bytes> sizes;
  for (std::uint64_t size = std::bit_ceil(low.value); size <= high.value; size *= 2) {
    sizes.push_back(Bytes{size});
  }
  if (sizes.empty()) return bad_size(fmt::format("no power of two lies within '{}'", text));
  return sizes;
}

}  // namespace

Expected<std::vector<Bytes>> parse_sizes(std::string_view text) {
  if (text.empty()) return bad_size("the list is empty");
  const bool list = text.find(',') != std::string_view::npos;
  const bool range = text.find('-') != std::string_view::npos;
  if (list && range) return bad_size(fmt::format("'{}' mixes ranges and lists", text));
  if (range) return parse_range(text);
  std::vector<Bytes> sizes;
  while (true) {
    const auto comma = text.find(',');
    const auto size = parse_one(text.substr(0, comma));
    const auto point = size ? std::nullopt : decimal_comma(text);  // "0,5": no size is 0
    if (point) return fail_usage("--size", point->message, point->hint);
    if (!size) return fail(size.error());
    if (std::find(sizes.begin(), sizes.end(), *size) == sizes.end()) sizes.push_back(*size);
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

std::string compact_text(Bytes bytes) {
  std::string text = to_text(bytes);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

}  // namespace numatlas

// What toml++ must not be given: some releases (3.3, as in Debian 12) take certain malformed texts
// for granted and do not survive them, or what follows is undefined.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace numatlas {

struct UnsafePlace {
  std::size_t line, column;  ///< from 1; bytes
  const char* what;
};

/// The text as it can be parsed, with every place where it was: in comments what is not ASCII is
/// replaced. Refused, as no file of scenarios needs it: bytes outside ASCII anywhere else (texts
/// have \u00e9), a table's head that starts with no key ("[=", "[[" alone), and "}" in an array.
tl::expected<std::string, UnsafePlace> safe_text(std::string_view text);

}  // namespace numatlas

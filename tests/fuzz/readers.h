// What fuzzers feed: every reader of text that comes from outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numatlas::testing {

struct Reader {
  std::string name;
  /// Reads a text, which may be anything. Ends the process where a promise is broken: a text that
  /// was printed cannot be read again, or an error without a message.
  void (*read)(std::string_view text);
};

const std::vector<Reader>& readers();
/// nullptr for an unknown name.
const Reader* find_reader(std::string_view name);

}  // namespace numatlas::testing

#include "report/filled.h"

#include <algorithm>
#include <cstddef>

namespace numatlas {

std::string filled(const std::string& text,
                   const std::function<std::string(const std::string&)>& value_of) {
  std::string result, part;
  std::string* out = &result;  // `part` within []
  bool empty = false;          // a name of the part has no value
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') {
      out = &part;
      part.clear();
      empty = false;
    } else if (text[at] == ']' && out == &part) {
      out = &result;
      if (!empty) result += part;
    } else if (text[at] == '{' && text.compare(at, 2, "{}") != 0) {
      const std::size_t end = std::min(text.find('}', at), text.size());
      const std::string value = value_of(text.substr(at + 1, end - at - 1));
      empty = empty || value.empty();
      *out += value;
      at = end;
    } else {
      *out += text[at];
    }
  }
  return result;
}

}  // namespace numatlas

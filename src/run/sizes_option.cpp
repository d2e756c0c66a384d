#include "run/sizes_option.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "run/declare.h"

namespace numatlas {

void SizesOption::add_to(CLI::App& app, const std::string& what, bool one) {
  one_ = one;
  std::string usual = usual_;
  usual.insert(std::min(usual.find('\n'), usual.size()), ")");
  const char* const forms = one ? "" : "A range has the powers of two. ";
  add_value(
      app, "--size", text_, one ? "SIZE" : "SIZES",
      fmt::format("{}{} (default: {}\n"
                  "{}The default is less where that is more than half of a node's free "
                  "memory",
                  what, one ? ", in MiB or with a unit" : ": 512 (MiB), 48KiB, 1MiB-2GiB or a list",
                  usual, forms));
}

Expected<void> SizesOption::parse(const std::string& command) {
  if (text_.empty()) return {};
  if (one_)
    given_ = {TRY(parse_one_size(text_, command))};
  else
    given_ = TRY(parse_sizes(text_));
  return {};
}

}  // namespace numatlas

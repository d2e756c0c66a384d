#include "benchmarks/sizes_option.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "run/declare.h"

namespace numatlas {

void SizesOption::add_to(CLI::App& app, const std::string& what) {
  std::string usual = usual_;
  usual.insert(std::min(usual.find('\n'), usual.size()), ")");
  add_value(app, "--size", text_, "SIZES",
            fmt::format("{}: 512 (MiB), 48KiB, 1MiB-2GiB or a list (default: {}\n"
                        "A range has the powers of two. The default is less where that is more "
                        "than half of a node's free memory",
                        what, usual));
}

Expected<void> SizesOption::parse() {
  if (text_.empty()) return {};
  given_ = TRY(parse_sizes(text_));
  return {};
}

void OneSizeOption::add_to(CLI::App& app, const std::string& help) {
  add_value(app, "--size", text_, "SIZE", help);
}

Expected<void> OneSizeOption::parse(const std::string& command) {
  if (text_.empty()) return {};
  given_ = TRY(parse_one_size(text_, command));
  return {};
}

}  // namespace numatlas

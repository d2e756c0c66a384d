#include "benchmarks/sizes_option.h"

#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "run/declare.h"

namespace numatlas {

void SizesOption::add_to(CLI::App& app, const std::string& what) {
  add_value(app, "--size", text_, "SIZES",
            fmt::format("{}: in MiB (512), with a unit (48KiB), the powers of two in a range "
                        "(1-2048, 32KiB-2GiB), or a list (64,128,300) (default: {}; less where "
                        "that is more than half of a node's free memory)",
                        what, usual_));
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

#include "benchmarks/sizes_option.h"

#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/size_list.h"

namespace numatlas {

void SizesOption::add_to(CLI::App& app, const std::string& what) {
  refuse_empty(app.add_option(
                   "--size", text_,
                   fmt::format("{}: MiB (512), with a unit (48KiB), powers of two in a range "
                               "(1-2048, 32KiB-2GiB), a list (64,128,300) (default: {}, less where "
                               "a node is small)",
                               what, usual_.value / mib)))
      ->type_name("SIZES");
}

Expected<void> SizesOption::parse() {
  if (text_.empty()) return {};
  auto sizes = parse_sizes(text_);
  if (!sizes) return fail(sizes.error());
  given_ = *std::move(sizes);
  return {};
}

}  // namespace numatlas

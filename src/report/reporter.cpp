#include "report/reporter.h"

#include <algorithm>

namespace numatlas {

std::vector<std::string> reporter_names() {
  std::vector<std::string> names;
  for (const Reporter& reporter : reporters()) names.emplace_back(reporter.name);
  return names;
}

std::string text_in(std::string_view format, const RunReport& report, const TextStyle& style) {
  const auto found = std::ranges::find(reporters(), format, &Reporter::name);
  return found == reporters().end() ? "" : found->text(report, style);
}

}  // namespace numatlas

#include "base/warning.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace numatlas {

std::string full_text(const Warning& warning) {
  return warning.where.empty() ? warning.text : warning.where + ": " + warning.text;
}

std::vector<std::string> counted(const std::vector<Warning>& warnings) {
  struct Matter {
    const Warning* first;
    std::size_t times;
  };
  std::vector<Matter> matters;
  std::map<std::string, std::size_t> known;
  for (const Warning& warning : warnings) {
    std::string matter = warning.text;
    // Figures differ from place to place and from run to run: the first one's stand for all. Those
    // of a setting are its value.
    if (warning.code != "setting" && warning.code != "not-judged" && warning.code != "note")
      std::erase_if(matter, [](char c) { return c >= '0' && c <= '9'; });
    matter = warning.code + '\n' + matter;
    const auto [found, is_new] = known.emplace(std::move(matter), matters.size());
    if (is_new)
      matters.push_back({&warning, 1});
    else
      ++matters[found->second].times;
  }
  std::vector<std::string> lines;
  for (const Matter& matter : matters) {
    const std::string text = full_text(*matter.first);
    lines.push_back(matter.times == 1 ? text
                                      : fmt::format("{} (and {} more)", text, matter.times - 1));
  }
  return lines;
}

}  // namespace numatlas

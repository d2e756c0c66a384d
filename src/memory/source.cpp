#include "memory/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace numatlas {
namespace {

std::vector<SourceForm> all_source_forms(HintsOf hints) {
  std::vector<SourceForm> forms;
  for (const MemorySource& source : memory_sources()) {
    if (source.parse == nullptr) continue;
    const bool listed = hints == HintsOf::nodes_and_sources;
    forms.push_back(
        {source.word, listed ? source.forms : std::vector<std::string>{}, source.parse});
  }
  return forms;
}

}  // namespace

const MemorySource& source_of(const MemoryPlacement& placement) {
  const std::string word = placement.source.substr(0, placement.source.find(':'));
  const auto& sources = memory_sources();
  const auto found = std::ranges::find(sources, word, &MemorySource::word);
  // Only parse_memory_spec and the sources themselves write these texts.
  return *(found != sources.end() ? found : sources.begin());
}

std::string source_value(const MemoryPlacement& placement) {
  const auto colon = placement.source.find(':');
  return colon == std::string::npos ? "" : placement.source.substr(colon + 1);
}

Expected<MemorySpec> parse_memory_spec(std::string_view text, HintsOf hints) {
  static const std::vector<SourceForm> forms[] = {all_source_forms(HintsOf::nodes_and_sources),
                                                  all_source_forms(HintsOf::nodes)};
  return parse_memory_spec(text, forms[static_cast<std::size_t>(hints)]);
}

std::vector<std::string> memory_words() {
  std::vector<std::string> words = node_words();
  for (const MemorySource& source : memory_sources()) {
    if (!source.forms.empty()) words.push_back(source.word + ":");
  }
  return words;
}

std::string source_forms() {
  std::vector<std::string> forms;
  for (const MemorySource& source : memory_sources())
    forms.insert(forms.end(), source.forms.begin(), source.forms.end());
  return fmt::format("{}", fmt::join(forms, ", "));
}

bool on_device(const MemoryPlacement& placement) {
  return source_of(placement).on_device(placement);
}

Expected<std::unique_ptr<Buffer>> allocate(const Region& region) {
  if (region.bytes.value == 0) {
    return fail_usage("size", "a region of 0 bytes cannot be measured");
  }
  return source_of(region.placement).make(region);
}

}  // namespace numatlas

#include "memory/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace numatlas {
const MemorySource& source_of(const MemoryPlacement& placement) {
  const std::string word = placement.source.substr(0, placement.source.find(':'));
  const auto& sources = memory_sources();
  const auto found = std::ranges::find(sources, word, &MemorySource::word);
  // Only parse_memory_spec and the sources themselves write these texts.
  return *(found != sources.end() ? found : sources.begin());
}

SourceState library_state(const std::string& word, const Library& library) {
  const bool there = library.problem().empty();
  return {fmt::format("lib{0} ({0}:)", word), there,
          there ? "loaded" : fmt::format("{}; {}", library.problem(), library.hint())};
}

std::string source_value(const MemoryPlacement& placement) {
  const auto colon = placement.source.find(':');
  return colon == std::string::npos ? "" : placement.source.substr(colon + 1);
}

Expected<MemorySpec> parse_memory_spec(std::string_view text, HintsOf hints) {
  const auto colon = text.find(':');
  const std::string_view word = trim(text.substr(0, colon));
  for (const MemorySource& source : memory_sources()) {
    if (source.parse == nullptr || source.word != word) continue;
    // Blanks at the end belong to a path as all its letters do.
    const auto value =
        TRY(source.parse(colon == std::string_view::npos ? "" : text.substr(colon + 1)));
    MemorySpec spec;
    spec.single.mode = MemoryMode::inherit;
    spec.single.source = fmt::format("{}:{}", word, value);
    return spec;
  }
  auto spec = parse_node_spec(text);
  if (!spec && hints == HintsOf::nodes_and_sources) spec.error().hint += ", " + source_forms();
  return spec;
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

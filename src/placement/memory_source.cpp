#include "placement/memory_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/text.h"

namespace numatlas {
namespace {

constexpr std::string_view node_word = "{node}", socket_word = "{socket}";

/// Bytes of the UTF-8 sequence at the start of a text that is not empty; 0 where there is none
/// (RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// "dax_kmem", "MEMKIND_DAX_KMEM" -> "DAX_KMEM"; "" for what cannot be the name of a kind.
std::string kind_name(std::string_view value) {
  std::string name(trim(value));
  for (char& letter : name) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    const bool good =
        letter == '_' || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    if (!good) return {};
  }
  constexpr std::string_view prefix = "MEMKIND_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

tl::unexpected<Error> source_error(const std::string& what, const std::string& hint) {
  return fail_usage("--memory", what, hint);
}

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

tl::unexpected<Error> no_one_number(const MemoryPlacement& placement, std::string_view word,
                                    const CpuSet& cpus, const std::string& which) {
  return fail_about(
      ErrorKind::unavailable, option_text(placement),
      fmt::format("a worker on CPU {} has no one number for {}: {}", to_list(cpus), word, which),
      "", "pin each worker with --cpus, or name one folder for all");
}

}  // namespace

MemorySource source_of(const MemoryPlacement& placement) {
  const std::string& text = placement.source;
  if (text.empty()) return {};
  if (text == "null") return {SourceKind::null, ""};
  const auto colon = text.find(':');
  const std::string form = text.substr(0, colon), name = text.substr(colon + 1);
  if (form == "pmem") return {SourceKind::pmem, name};
  if (form == "dax") return {SourceKind::dax, name};
  if (form == "gpu") return {SourceKind::gpu, name};
  const bool folder = name.find('/') != std::string::npos;
  return {folder ? SourceKind::memkind_directory : SourceKind::memkind, name};
}

bool on_device(const MemoryPlacement& placement) {
  switch (source_of(placement).kind) {
    case SourceKind::pmem:
    case SourceKind::dax:
    case SourceKind::memkind_directory:
    case SourceKind::gpu: return true;
    case SourceKind::anonymous:
    case SourceKind::null:
    case SourceKind::memkind: break;
  }
  return false;
}

Expected<MemoryPlacement> parse_source(std::string_view form, std::string_view value) {
  MemoryPlacement placement;
  placement.mode = MemoryMode::inherit;
  const bool memkind = form == "memkind";
  if (trim(value).empty()) {
    const char* what = form == "dax" ? "device" : memkind ? "kind and no folder" : "folder";
    const char* example = form == "dax" ? "dax:/dev/dax0.0"
                          : memkind     ? "memkind:DAX_KMEM or memkind:/mnt/pmem0"
                                        : "pmem:/mnt/pmem0";
    return source_error(fmt::format("'{}:' names no {}", form, what),
                        fmt::format("write {}", example));
  }
  std::string name(value);
  if (memkind && value.find('/') == std::string_view::npos) {
    name = kind_name(value);
    if (name.empty()) {
      return source_error("'memkind:' takes the name of a kind, or a folder with a slash in it",
                          "write memkind:DAX_KMEM or memkind:./FOLDER");
    }
  }
  if (!is_printable(name)) {
    return source_error(
        fmt::format("'{}:' names a path that is not UTF-8 text or has control characters", form),
        "results are text: make a link with a plain name");
  }
  placement.source = fmt::format("{}:{}", form, name);
  return placement;
}

Expected<MemoryPlacement> at_place(const MemoryPlacement& placement, const CpuSet& cpus,
                                   const Machine& machine) {
  MemoryPlacement placed = placement;
  if (cpus.empty()) return placed;
  if (placed.source.find(node_word) != std::string::npos) {
    const NodeSet nodes = machine.nodes_of(cpus);
    if (nodes.size() != 1) {
      return no_one_number(placement, node_word, cpus,
                           nodes.empty() ? "its node is not known" : "nodes " + to_list(nodes));
    }
    placed.source = replaced(placed.source, node_word, std::to_string(nodes.front().value));
  }
  if (placed.source.find(socket_word) != std::string::npos) {
    std::set<int> packages;
    for (CpuId id : cpus) {
      const Cpu* cpu = machine.find_cpu(id);
      packages.insert(cpu == nullptr ? -1 : cpu->package);
    }
    if (packages.size() != 1 || *packages.begin() < 0) {
      return no_one_number(
          placement, socket_word, cpus,
          packages.contains(-1) ? "its package is not known" : "it may run on several packages");
    }
    placed.source = replaced(placed.source, socket_word, std::to_string(*packages.begin()));
  }
  return placed;
}

std::string option_text(const MemoryPlacement& placement) {
  constexpr std::size_t shown = 300;
  std::string text = placement.text();
  if (text.size() <= shown) return "--memory " + text;
  std::size_t end = shown;
  // Not in the middle of a letter.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return "--memory " + text.substr(0, end) + "...";
}

}  // namespace numatlas

// page_pattern PLACEMENT PAGES [KIND [MULTIPLE]]: allocates a region with a placement of the
// grammar, touches what is not there yet from its first byte on, and prints the node of each page
// in order. Where the pattern of an interleaved region begins depends on its address, so printing
// begins at a page whose number (its address by the page size) is a multiple of MULTIPLE.
#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "memory/buffer.h"
#include "memory/source.h"
#include "placement/kernel_calls.h"
#include "placement/test_page_nodes.h"

using namespace numatlas;

namespace {

/// Most pages that may be asked for: all of them are listed.
constexpr std::size_t most_pages = 1 << 20;

Expected<std::size_t> parse_count(const std::string& text, const char* what) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || *end != '\0' || value < 1 || value > most_pages) {
    return fail(ErrorKind::usage, fmt::format("{}: '{}' is not a count", what, text));
  }
  return value;
}

/// "0*5 1*3 -2*1 ": the node and how many pages in a row lie there; an untouched page is at -2.
std::string run_lengths(const std::vector<int>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i;
    while (end < nodes.size() && nodes[end] == nodes[i]) ++end;
    text += fmt::format("{}*{} ", nodes[i], end - i);
    i = end;
  }
  return text;
}

Expected<void> show(const std::vector<std::string>& words) {
  const auto memory = parse_memory_spec(words.at(0));
  if (!memory) return fail(memory.error());
  const auto pages = parse_count(words.at(1), "PAGES");
  if (!pages) return fail(pages.error());
  const auto kinds = parse_page_kinds(words.size() > 2 ? words[2] : "base");
  if (!kinds) return fail(kinds.error());
  const auto multiple = parse_count(words.size() > 3 ? words[3] : "1", "MULTIPLE");
  if (!multiple) return fail(multiple.error());
  const PageKind kind = kinds->front();
  const std::size_t page = page_size_of(kind, Bytes{kernel::page_size()}).value;
  const std::size_t mapped = *pages + *multiple - 1;

  const auto buffer = allocate({Bytes{mapped * page}, memory->single, kind});
  if (!buffer) return fail(buffer.error());
  std::byte* start = (*buffer)->data();
  for (std::size_t at = 0; at < mapped * page; at += kernel::page_size()) start[at] = std::byte{1};
  const std::size_t past = reinterpret_cast<std::uintptr_t>(start) / page % *multiple;
  const std::size_t skipped = past == 0 ? 0 : *multiple - past;

  const PolicyOutcome& policy = (*buffer)->policy();
  fmt::print("mechanism: {}\n", policy.mechanism);
  if (!policy.note.empty()) fmt::print("note: {}\n", policy.note);
  fmt::print("pages of {}: {}\n", (*buffer)->residency().page_text(),
             run_lengths(testing::page_nodes(start + skipped * page, *pages * page, page, *pages)));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2 || words.size() > 4) {
    fmt::print(stderr, "usage: page_pattern PLACEMENT PAGES [KIND [MULTIPLE]]\n");
    return 2;
  }
  const auto shown = show(words);
  if (shown) return 0;
  fmt::print(stderr, "page_pattern: error: {}\n", full_text(shown.error()));
  return exit_code(shown.error().kind);
}

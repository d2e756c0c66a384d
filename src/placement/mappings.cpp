#include "placement/mappings.h"

#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

template <class T>
bool parse_whole(std::string_view text, T& value, int base = 10) {
  const auto read = whole_number<T>(text, base);
  value = read.value_or(value);
  return read.has_value();
}

/// "7f0000000000-7f0000200000 rw-p ...": the head of a mapping.
bool parse_head(std::string_view line, Mapping& mapping) {
  const auto dash = line.find('-');
  const auto space = line.find(' ');
  if (dash == std::string_view::npos || space == std::string_view::npos || dash > space) {
    return false;
  }
  return parse_whole(line.substr(0, dash), mapping.start, 16) &&
         parse_whole(line.substr(dash + 1, space - dash - 1), mapping.end, 16);
}

/// "AnonHugePages:      2048 kB": key and bytes.
bool parse_field(std::string_view line, std::string_view key, std::size_t& bytes) {
  if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') return false;
  const std::string_view rest = trim(line.substr(key.size() + 1));
  std::size_t value = 0;
  if (!parse_whole(rest.substr(0, rest.find(' ')), value)) return false;
  bytes = value * kib;
  return true;
}

/// One word of a numa_maps line behind the address and the policy.
void parse_word(std::string_view word, NumaMapsLine& out) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  if (equals == std::string_view::npos) {
    if (key == "huge") out.group = "Huge";
    if (key == "heap") out.group = "Heap";
    // Kernels before 4.5 name each thread's stack: "stack:1234".
    if (key == "stack" || key.starts_with("stack:")) out.group = "Stack";
    return;
  }
  const std::string_view value = word.substr(equals + 1);
  int node = 0;
  std::uint64_t pages = 0;
  if (key.starts_with('N') && parse_whole(key.substr(1), node) && parse_whole(value, pages)) {
    out.pages_by_node[node] += pages;
  }
  std::size_t page_kib = 0;
  if (key == "kernelpagesize_kB" && parse_whole(value, page_kib)) out.page_size = page_kib * kib;
}

}  // namespace

std::vector<Mapping> read_smaps(std::istream& file) {
  std::vector<Mapping> all;
  for (std::string line; std::getline(file, line);) {
    Mapping next;
    if (parse_head(line, next)) {
      all.push_back(next);
    } else if (!all.empty()) {
      parse_field(line, "KernelPageSize", all.back().page_size);
      parse_field(line, "Rss", all.back().resident);
      parse_field(line, "AnonHugePages", all.back().anonymous_huge);
    }
  }
  return all;
}

bool parse_numa_maps_line(const std::string& line, NumaMapsLine& out) {
  std::istringstream words(line);
  std::string address, policy;
  if (!(words >> address >> policy) || !parse_whole(std::string_view(address), out.start, 16)) {
    return false;
  }
  for (std::string word; words >> word;) parse_word(word, out);
  return true;
}

ProcessMemory sum_numa_maps(std::istream& file, const NodeSet& nodes) {
  constexpr std::array<const char*, 4> groups = {"Huge", "Heap", "Stack", "Private"};
  std::map<std::string, std::map<int, std::uint64_t>> bytes;
  NodeSet seen = nodes;
  for (std::string text; std::getline(file, text);) {
    NumaMapsLine line;
    if (!parse_numa_maps_line(text, line)) continue;
    const std::size_t page = line.page_size != 0 ? line.page_size : kernel::page_size();
    for (const auto& [node, pages] : line.pages_by_node) {
      seen.insert(NodeId{node});
      bytes[line.group][node] += pages * page;
    }
  }
  ProcessMemory memory;
  memory.nodes.assign(nodes.begin(), nodes.end());
  for (NodeId node : seen - nodes) memory.nodes.push_back(node);
  for (const char* group : groups) {
    ProcessMemory::Row row{group, {}};
    for (NodeId node : memory.nodes) row.by_node.push_back(Bytes{bytes[group][node.value]});
    memory.rows.push_back(std::move(row));
  }
  return memory;
}

}  // namespace numatlas

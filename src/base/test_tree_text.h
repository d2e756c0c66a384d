// For the tests and the fuzzers: machines written as text (tests/trees/live.txt says how).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/test_tree.h"

namespace numatlas::testing {

struct TreeText {
  std::string name;
  std::string other;               // the machine whose files it has too; "": none
  std::vector<std::string> files;  // lines that write files
  std::vector<std::string> facts;  // lines that say what has to be read, without `> `
};

inline std::vector<TreeText> trees_in(std::string_view text) {
  std::vector<TreeText> trees;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("= ")) {
      const std::size_t other = line.find(" < ");
      trees.push_back({line.substr(2, other - (other == line.npos ? 0 : 2)),
                       other == line.npos ? "" : line.substr(other + 3),
                       {},
                       {}});
    } else if (!trees.empty() && line.starts_with("> ")) {
      trees.back().facts.push_back(line.substr(2));
    } else if (!trees.empty() && !line.empty() && !line.starts_with("#")) {
      trees.back().files.push_back(line);
    }
  }
  return trees;
}

/// Whether it may be written: a fuzzer makes such names.
inline bool is_inside(std::string_view path) {
  return (path.starts_with("/sys/") || path.starts_with("/proc/")) && path.size() < 300 &&
         path.find("..") == path.npos && path.find('\0') == path.npos;
}

inline void write_file_line(const RecordedTree& tree, const std::string& line) {
  const std::size_t colon = line.ends_with(':') ? line.size() - 1 : line.find(": ");
  const std::string path = line.substr(0, colon);
  if (colon == line.npos || !is_inside(path)) return;
  std::string content = colon + 2 < line.size() ? line.substr(colon + 2) : "";
  if (content.starts_with("-> ")) {
    if (is_inside(content.substr(3))) tree.link(path, tree.root() + content.substr(3));
    return;
  }
  for (const auto& [written, meant] : {std::pair("\\n", "\n"), std::pair("\\t", "\t")})
    for (std::size_t at = 0; (at = content.find(written, at)) != content.npos; ++at)
      content.replace(at, 2, meant);
  tree.file(path, content);
}

inline void write_tree_line(const RecordedTree& tree, const std::string& line) {
  std::istringstream words(line);
  std::string kind, first, second, third, distances;
  int number = 0, other = 0;
  if (line.starts_with("/")) {
    write_file_line(tree, line);
  } else if (words >> kind; kind == "cpus") {
    words >> number >> other;
    if (number > 0 && number <= 30 && other > 0 && other <= number) tree.cpus(number, other);
  } else if (kind == "node") {
    long kb = 0;
    words >> number >> first >> second >> kb;
    std::getline(words, distances);
    const auto mask = static_cast<unsigned>(std::strtoul(second.c_str(), nullptr, 16));
    tree.node(number, first == "-" ? "" : first, mask, kb,
              distances.empty() ? distances : distances.substr(1));
  } else if (kind == "pci") {
    words >> first >> second >> third >> number;
    const std::string folder = "/sys/bus/pci/devices/" + first;
    if (!is_inside(folder)) return;
    tree.file(folder + "/class", second);
    tree.file(folder + "/vendor", third);
    tree.file(folder + "/device", "0x2330");
    tree.file(folder + "/numa_node", std::to_string(number));
  }
}

/// Writes what the machine has of others, then its own. At most some files of each: a fuzzer makes
/// machines that are their own others.
inline void write_tree(const RecordedTree& tree, const std::vector<TreeText>& all,
                       const TreeText& one, int depth = 0) {
  for (const TreeText& other : all)
    if (depth < 4 && !one.other.empty() && other.name == one.other)
      write_tree(tree, all, other, depth + 1);
  for (std::size_t i = 0; i < one.files.size() && i < 300; ++i) write_tree_line(tree, one.files[i]);
}

}  // namespace numatlas::testing

// Reading small files of /sys and /proc below a root, so that tests can use recorded trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace numatlas {

/// For Tree::text: however long the file is.
inline constexpr std::size_t whole_file = ~std::size_t{0};

/// Paths are given as on the running system ("/sys/..."); the root is put before them. Everything
/// that cannot be read is nullopt or empty: a missing file is normal here, never an error.
class Tree {
 public:
  explicit Tree(std::string root) : root_(std::move(root)) {}

  bool is_live() const { return root_.empty(); }
  const std::string& root() const { return root_; }
  /// First 1 MiB of a file, without white space at its end; errno says why there is none.
  std::optional<std::string> text(const std::string& path, std::size_t limit = 1U << 20) const;
  /// Its first line.
  std::optional<std::string> line(const std::string& path) const;
  /// A file that holds one whole number (decimal, or hexadecimal with 0x).
  std::optional<std::int64_t> number(const std::string& path) const;
  /// A file in the kernel's list format; nullopt if it cannot be read or understood.
  template <class I>
  std::optional<IdSet<I>> list(const std::string& path) const {
    const auto found = text(path);
    if (!found) return std::nullopt;
    auto set = parse_list<I>(*found);
    return set ? std::optional(*set) : std::nullopt;
  }
  /// Names in a directory, sorted; empty if there is none.
  std::vector<std::string> names(const std::string& directory) const;
  /// Last component of what a symbolic link points to.
  std::optional<std::string> link_name(const std::string& path) const;
  /// The path with all links resolved (with the root before it).
  std::optional<std::string> resolved(const std::string& path) const;
  bool exists(const std::string& path) const;

 private:
  std::string root_;
};

/// The system that this process runs on: the one place where its files are read. Tests put another
/// tree there.
Tree& running_system();

/// Number behind a prefix: ("node12", "node") -> 12; nullopt for "nodes" or "node1x".
std::optional<int> number_after(std::string_view name, std::string_view prefix);
/// Value of a "key : value" line of /proc/cpuinfo, status or meminfo.
std::optional<std::string> value_of(std::string_view text, std::string_view key);
/// The word in brackets of "always [madvise] never"; the whole text where there are none.
std::string selected_word(std::string_view text);
std::vector<std::string> split_lines(std::string_view text);

}  // namespace numatlas

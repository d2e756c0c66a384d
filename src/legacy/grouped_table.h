// The boxed table of the source systems: groups of columns between bars, each with a title.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace numatlas::legacy {

struct TableColumn {
  std::string title;
  std::size_t width = 0;      ///< between the bars, blanks included; grows with its cells
  bool centre_cells = false;  ///< otherwise to the left, after one blank
  bool centre_title = false;
};

struct TableGroup {
  std::string title;
  std::vector<TableColumn> columns;
  /// Blanks before the title while the columns have their given widths; nullopt: in the middle. The
  /// original programs print titles that stand somewhat beside the middle.
  std::optional<std::size_t> title_at;
};

/// Title line, heads and rows between two lines of `=`. Each row has a cell a column of all groups
/// in turn. A group narrower than its title gets a wider last column.
std::string grouped_table(std::vector<TableGroup> groups,
                          const std::vector<std::vector<std::string>>& rows);

/// A mask as these programs print it: "1,65" for two CPUs, "1" for one; a range list for more.
std::string cores_text(const CpuSet& cpus);
/// "-" where it is not known.
std::string node_text(NodeId node);

}  // namespace numatlas::legacy

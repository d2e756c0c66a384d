#include "legacy/grouped_table.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace numatlas::legacy {
namespace {

std::size_t width_of(const TableGroup& group) {
  std::size_t width = group.columns.empty() ? 0 : group.columns.size() - 1;  // bars between
  for (const TableColumn& column : group.columns) width += column.width;
  return width;
}

/// In the middle; the odd blank stands on the left, as in the originals' columns.
std::string centred(const std::string& text, std::size_t width) {
  const std::size_t spare = width - std::min(width, text.size());
  return std::string((spare + 1) / 2, ' ') + text + std::string(spare / 2, ' ');
}

std::string placed(const std::string& text, std::size_t width, bool centre) {
  return centre ? centred(text, width) : fmt::format(" {:<{}}", text, width - 1);
}

void widen(TableGroup& group, const std::vector<std::vector<std::string>>& rows,
           std::size_t first) {
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    std::size_t& width = group.columns[i].width;
    width = std::max(width, group.columns[i].title.size() + 2);
    for (const auto& row : rows) width = std::max(width, row[first + i].size() + 2);
  }
  const std::size_t needed = group.title.size() + 2;
  if (!group.columns.empty() && width_of(group) < needed) {
    group.columns.back().width += needed - width_of(group);
  }
}

/// The title in a group that was `given` wide before its cells were known.
std::string title_text(const TableGroup& group, std::size_t given) {
  const std::size_t width = width_of(group);
  std::size_t left = (width - group.title.size()) / 2;
  // What the group grew by is shared between both sides.
  if (group.title_at) left = *group.title_at + (width - given) / 2;
  return fmt::format("{:<{}}", std::string(left, ' ') + group.title, width);
}

}  // namespace

std::string grouped_table(std::vector<TableGroup> groups,
                          const std::vector<std::vector<std::string>>& rows) {
  std::string titles = "|", line = "|", heads = "|";
  std::vector<TableColumn> columns;
  for (TableGroup& group : groups) {
    const std::size_t given = width_of(group);
    widen(group, rows, columns.size());
    titles += title_text(group, given) + "|";
    for (const TableColumn& column : group.columns) {
      heads += placed(column.title, column.width, column.centre_title) + "|";
      line += std::string(column.width, '-') + "|";
      columns.push_back(column);
    }
  }
  const std::string edge = " " + std::string(titles.size() - 2, '=') + "\n";
  std::string text = edge + titles + "\n" + line + "\n" + heads + "\n" + line + "\n";
  for (const auto& row : rows) {
    text += '|';
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += placed(row[i], columns[i].width, columns[i].centre_cells) + "|";
    }
    text += '\n';
  }
  return text + edge;
}

std::string cores_text(const CpuSet& cpus) {
  if (cpus.size() == 2) return fmt::format("{},{}", cpus[0].value, cpus[1].value);
  return to_list(cpus);
}

std::string node_text(NodeId node) { return node.value < 0 ? "-" : std::to_string(node.value); }

}  // namespace numatlas::legacy

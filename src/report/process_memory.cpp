#include "report/process_memory.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"

namespace numatlas {
namespace {

double megabytes(Bytes bytes) { return static_cast<double>(bytes.value) / mib; }

std::string row_text(const std::string& name, const std::vector<Bytes>& by_node) {
  std::string text = fmt::format("{:<16} ", name);
  Bytes total;
  for (Bytes bytes : by_node) {
    text += fmt::format(" {:>15.2f}", megabytes(bytes));
    total.value += bytes.value;
  }
  return text + fmt::format(" {:>15.2f}\n", megabytes(total));
}

}  // namespace

std::string process_memory_table(const ProcessMemory& memory) {
  std::string text = fmt::format("Per-node process memory usage (in MBs) for PID {} ({})\n",
                                 memory.pid, memory.command);
  std::string head = fmt::format("{:<17}", "");
  std::string line = head;
  for (NodeId node : memory.nodes) {
    head += fmt::format(" {:>15}", fmt::format("Node {}", node.value));
    line += " ---------------";
  }
  text += head + fmt::format(" {:>15}\n", "Total") + line + " ---------------\n";
  std::vector<Bytes> totals(memory.nodes.size());
  for (const ProcessMemory::Row& row : memory.rows) {
    text += row_text(row.name, row.by_node);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i].value += row.by_node[i].value;
  }
  line.replace(0, 16, "----------------");
  return text + line + " ---------------\n" + row_text("Total", totals);
}

std::string with_prefix(const std::string& prefix, const std::string& text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    result += prefix + text.substr(start, end - start) + '\n';
    start = end + 1;
  }
  return result;
}

}  // namespace numatlas

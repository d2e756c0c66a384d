#include "base/process_stat.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/tree.h"

namespace numatlas {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The second field, the name in brackets, may itself hold spaces and brackets.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(text.substr(name_end + 1))};
  ProcessStat stat;
  std::string skipped;
  fields >> stat.state >> stat.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  stat.ticks = user + system;
  for (int field = 16; field < 22; ++field) fields >> skipped;
  if (!(fields >> stat.start_time)) stat.start_time = 0;
  return stat;
}

std::optional<ProcessStat> read_process_stat(const Tree& tree, pid_t process) {
  const auto text = tree.text(fmt::format("/proc/{}/stat", process));
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::optional<std::vector<pid_t>> children_of(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task/", process);
  std::vector<pid_t> children;
  bool listed = false;
  for (const std::string& task : running_system().names(tasks)) {
    const auto text = running_system().text(tasks + task + "/children");
    if (!text) continue;  // a thread that has just ended
    listed = true;
    std::istringstream numbers(*text);
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  }
  if (!listed) return std::nullopt;
  return children;
}

Bytes mapped_memory() {
  // "1234 567 ...": the first number, in pages.
  const std::string sizes = running_system().text("/proc/self/statm").value_or("");
  return Bytes{std::strtoull(sizes.c_str(), nullptr, 10) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

}  // namespace numatlas

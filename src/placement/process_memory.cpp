// The memory of a process per node, from numa_maps.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <string>

#include "base/tree.h"
#include "placement/mappings.h"

namespace numatlas {

Expected<ProcessMemory> read_process_memory(int pid, const NodeSet& nodes) {
  const std::string folder = pid == 0 ? "/proc/self/" : fmt::format("/proc/{}/", pid);
  const std::string path = folder + "numa_maps";
  errno = 0;
  const auto maps = running_system().text(path, whole_file);
  if (!maps || maps->empty()) {
    const int error = errno;
    if (!running_system().exists(folder)) {
      return fail_about(ErrorKind::unavailable, "numa_maps", fmt::format("no process {}", pid));
    }
    if (error == EACCES || error == EPERM) {
      return fail_about(ErrorKind::permission, "numa_maps",
                        fmt::format("{}: {}", path, errno_text(error)),
                        "only root and the owner of a process may read it");
    }
    if (!maps) {
      return fail_about(ErrorKind::unavailable, "numa_maps", fmt::format("{} does not exist", path),
                        "the kernel is built without NUMA, or the container hides the file");
    }
  }
  std::istringstream file(maps.value_or(""));
  ProcessMemory memory = sum_numa_maps(file, nodes);
  memory.pid = pid == 0 ? static_cast<int>(getpid()) : pid;
  memory.command = running_system().line(folder + "comm").value_or("");
  return memory;
}

}  // namespace numatlas

// The memory of a process per node, from numa_maps.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "placement/kernel_calls.h"
#include "placement/mappings.h"

namespace numatlas {

Expected<ProcessMemory> read_process_memory(int pid, const NodeSet& nodes) {
  const std::string folder = pid == 0 ? "/proc/self/" : fmt::format("/proc/{}/", pid);
  const std::string path = kernel::calls().root + folder + "numa_maps";
  errno = 0;
  std::ifstream file(path);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    const int error = errno;
    if (access((kernel::calls().root + folder).c_str(), F_OK) != 0) {
      return fail_about(ErrorKind::unavailable, "--process-memory",
                        fmt::format("no process {}", pid));
    }
    if (error == EACCES || error == EPERM) {
      return fail_about(ErrorKind::permission, "--process-memory",
                        fmt::format("{}: {}", path, errno_text(error)),
                        "only root and the owner of a process may read it");
    }
    if (!file) {
      return fail_about(ErrorKind::unavailable, "--process-memory",
                        fmt::format("{} does not exist", path),
                        "the kernel is built without NUMA, or the container hides the file");
    }
  }
  ProcessMemory memory = sum_numa_maps(file, nodes);
  memory.pid = pid == 0 ? static_cast<int>(getpid()) : pid;
  memory.command = kernel::read_line(folder + "comm").value_or("");
  return memory;
}

}  // namespace numatlas

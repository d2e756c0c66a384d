// Files on persistent memory, by libpmem: pmem:DIR.
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/signals.h"
#include "memory/folder.h"
#include "memory/libpmem.h"
#include "memory/pools.h"

namespace numatlas {
namespace {

Expected<std::unique_ptr<Buffer>> make_pmem(const Region& region) {
  TRY(libpmem().library.check("pmem"));
  // A file system that runs full on the way is full for all its users.
  TRY(check_fits({region}, running_nodes()));
  const std::string folder = source_value(region.placement);
  void* file = nullptr;
  std::size_t mapped = 0;
  int is_pmem = 0;
  // A file system may break off the search for blocks at any signal.
  do {
    errno = 0;
    file = libpmem().map_file(folder.c_str(), region.bytes.value,
                              pmem_file_create | pmem_file_tmpfile, 0600, &mapped, &is_pmem);
  } while (file == nullptr && errno == EINTR && !stop_requested());
  if (file == nullptr) return file_error(region, "pmem_map_file", errno);
  const bool direct = maps_directly(folder).value_or(is_pmem != 0);
  Buffer::Functions functions;
  functions.free = [file, mapped] { libpmem().unmap(file, mapped); };
  functions.persist = [folder, is_pmem](const void* start, std::size_t bytes) -> Expected<void> {
    if (is_pmem != 0) {
      libpmem().persist(start, bytes);
      return {};
    }
    if (libpmem().msync(start, bytes) == 0) return {};
    return fail_about(ErrorKind::io, folder, fmt::format("pmem_msync: {}", errno_text(errno)));
  };
  return file_buffer(region, file, "pmem_map_file", direct, std::move(functions));
}

}  // namespace

LibPmem::LibPmem() {
  library.get(map_file, "pmem_map_file");
  library.get(unmap, "pmem_unmap");
  library.get(persist, "pmem_persist");
  library.get(msync, "pmem_msync");
}

LibPmem& libpmem() {
  static LibPmem table;
  return table;
}

MemorySource pmem_source() {
  return {.word = "pmem",
          .forms = {"pmem:DIR"},
          .persistent = true,
          .parse =
              [](std::string_view value) {
                return parse_path(value, "pmem", "folder", "pmem:/mnt/pmem0");
              },
          .probe = [](const MemoryPlacement& placement) -> Expected<void> {
            TRY(libpmem().library.check("pmem"));
            return check_folder(placement);
          },
          .room = [](const MemoryPlacement& placement) -> std::optional<Room> {
            return folder_room(source_value(placement));
          },
          .make = make_pmem,
          .describe = [] { return library_state("pmem", libpmem().library); },
          .uses_nodes =
              [](const MemoryPlacement& placement, const Machine& machine) {
                return is_node_memory(source_value(placement), machine);
              }};
}

}  // namespace numatlas

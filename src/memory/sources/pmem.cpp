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
#include "memory/library.h"
#include "memory/pools.h"

namespace numatlas {
namespace {

LibPmem load_libpmem() {
  LibPmem table;
  Library library("libpmem.so.1", "libpmem1");
  library.get(table.map_file, "pmem_map_file");
  library.get(table.unmap, "pmem_unmap");
  library.get(table.persist, "pmem_persist");
  library.get(table.msync, "pmem_msync");
  table.problem = library.problem();
  table.hint = library.hint();
  return table;
}

Expected<std::unique_ptr<Buffer>> make_pmem(const Region& region) {
  TRY(check_pmem());
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
  functions.residency = [file, bytes = region.bytes.value, folder,
                         direct](const ProcessMappings& mappings) {
    return file_residency(file, bytes, folder, direct, mappings);
  };
  functions.persist = [folder, is_pmem](const void* start, std::size_t bytes) -> Expected<void> {
    if (is_pmem != 0) {
      libpmem().persist(start, bytes);
      return {};
    }
    if (libpmem().msync(start, bytes) == 0) return {};
    return fail_about(ErrorKind::io, folder, fmt::format("pmem_msync: {}", errno_text(errno)));
  };
  return std::make_unique<Buffer>(
      file, region.bytes.value,
      PolicyOutcome{"pmem_map_file", direct ? "" : page_cache_note(folder)}, std::move(functions));
}

}  // namespace

LibPmem& libpmem() {
  static LibPmem table = load_libpmem();
  return table;
}

Expected<void> check_pmem() {
  const LibPmem& library = libpmem();
  if (library.problem.empty()) return {};
  return fail_about(ErrorKind::unavailable, "memory pmem", "needs libpmem: " + library.problem,
                    library.hint);
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
            TRY(check_pmem());
            return check_folder(placement);
          },
          .room = [](const MemoryPlacement& placement) -> std::optional<Room> {
            return folder_room(source_value(placement));
          },
          .make = make_pmem,
          .describe =
              [] {
                const auto there = check_pmem();
                return SourceState{"libpmem (pmem:)", there.has_value(),
                                   there ? "loaded" : with_hint(libpmem().problem, there.error())};
              },
          .uses_nodes =
              [](const MemoryPlacement& placement, const Machine& machine) {
                return is_node_memory(source_value(placement), machine);
              }};
}

}  // namespace numatlas

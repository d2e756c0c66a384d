// Internal: the few functions of libpmem 1.x (PMDK) that are used, declared here so that no headers
// are needed to build, in a table that tests replace.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "memory/library.h"

namespace numatlas {

/// Flags of pmem_map_file.
inline constexpr int pmem_file_create = 1 << 0;
inline constexpr int pmem_file_tmpfile = 1 << 3;  ///< an unnamed file in a folder

struct LibPmem {
  void* (*map_file)(const char* path, std::size_t bytes, int flags, mode_t mode,
                    std::size_t* mapped, int* is_pmem) = nullptr;
  int (*unmap)(void* start, std::size_t bytes) = nullptr;
  void (*persist)(const void* start, std::size_t bytes) = nullptr;
  int (*msync)(const void* start, std::size_t bytes) = nullptr;
  Library library{"libpmem.so.1", "libpmem1"};
  LibPmem();
};
/// The library's own, loaded at the first call, until a test changes it.
LibPmem& libpmem();

}  // namespace numatlas

#include "memory/libpmem.h"

#include <cstring>

#include "base/environment.h"
#include "memory/library.h"

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

}  // namespace

LibPmem& libpmem() {
  static LibPmem table = load_libpmem();
  return table;
}

bool pmem_is_forced() {
  const char* value = environment_variable("PMEM_IS_PMEM_FORCE");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

Expected<void> check_pmem() {
  const LibPmem& library = libpmem();
  if (library.problem.empty()) return {};
  return fail_about(ErrorKind::unavailable, "memory pmem", "needs libpmem: " + library.problem,
                    library.hint);
}

}  // namespace numatlas

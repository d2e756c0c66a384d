// Internal to placement and memory: the forms of --memory that name another source than anonymous
// memory, pmem:DIR, dax:DEVICE, memkind:KIND and memkind:DIR.
#pragma once

#include <string>
#include <string_view>

#include "placement/placement.h"

namespace numatlas {

enum class SourceKind {
  anonymous,
  null,               ///< the null engine's: no memory at all
  pmem,               ///< a file in the folder `name`, by libpmem
  dax,                ///< the character device `name`
  memkind,            ///< memkind's kind `name`, in capitals, without MEMKIND_
  memkind_directory,  ///< memkind's kind of a file in the folder `name`
  gpu,                ///< memory of GPU number `name`, which only GPUs reach
};

struct MemorySource {
  SourceKind kind = SourceKind::anonymous;
  std::string name;
};
/// What the text of a placement's source says.
MemorySource source_of(const MemoryPlacement& placement);

/// The value of "pmem", "dax" or "memkind" -> the placement. A path is taken as it is written, but
/// must be UTF-8 without control characters, as it stands in tables and JSON. Errors: usage, naming
/// --memory.
Expected<MemoryPlacement> parse_source(std::string_view form, std::string_view value);

/// Puts the OS number of the CPUs' node for {node}, of their package for {socket}. Error
/// (unavailable, naming --memory) where they have no single one. Without CPUs, and without braces,
/// the placement as it is.
Expected<MemoryPlacement> at_place(const MemoryPlacement& placement, const CpuSet& cpus,
                                   const Machine& machine);

/// "--memory pmem:/mnt/x", a very long path cut, for error messages.
std::string option_text(const MemoryPlacement& placement);

}  // namespace numatlas

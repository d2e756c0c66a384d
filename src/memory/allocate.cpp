#include <memory>

#include <fmt/format.h>

#include "memory/buffer.h"
#include "memory/sources.h"

namespace numatlas {

Expected<std::unique_ptr<Buffer>> allocate(const Region& region) {
  if (region.bytes.value == 0) {
    return fail_usage("--size", "a region of 0 bytes cannot be measured");
  }
  switch (source_of(region.placement).kind) {
    case SourceKind::anonymous: break;
    case SourceKind::null: return allocate_null(region);
    case SourceKind::pmem: return allocate_pmem(region);
    case SourceKind::dax: return allocate_dax(region);
    case SourceKind::memkind:
    case SourceKind::memkind_directory: return allocate_memkind(region);
    case SourceKind::gpu:
      return fail_usage(fmt::format("--memory {}", region.placement.text()),
                        "only GPU copies can access its memory",
                        "numatlas transfer copies to and from GPUs");
  }
  return allocate_anonymous(region);
}

}  // namespace numatlas

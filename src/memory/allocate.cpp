#include <fmt/format.h>

#include "memory/buffer.h"
#include "memory/sources.h"

namespace numatlas {

Expected<std::unique_ptr<Buffer>> allocate(const Region& region) {
  if (region.bytes.value == 0) {
    return fail(ErrorKind::usage, "--size: a region of 0 bytes cannot be measured");
  }
  if (region.source == "anonymous") return allocate_anonymous(region);
  if (region.source == "null") return allocate_null(region);
  return fail(ErrorKind::unavailable,
              fmt::format("no memory source '{}' in this build; there are: anonymous, null",
                          region.source));
}

}  // namespace numatlas

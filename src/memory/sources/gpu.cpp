// Memory of a GPU itself: gpu:N, which only copies of GPUs reach. Its driver gives it
// (gpu/device_kernel.h), and says what it has when it is asked for some.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "memory/source.h"
#include "placement/source_text.h"

namespace numatlas {

MemorySource gpu_source() {
  return {.word = "gpu",
          .takes_pages = true,  // it has no kinds of pages; that is said where the copy is planned
          .on_host = false,
          .parse = [](std::string_view value) -> Expected<std::string> {
            const auto number = parse_ordered_list(trim(value));
            if (number && number->size() == 1) return std::to_string(number->front());
            return fail(ErrorKind::usage,
                        fmt::format("'gpu:{}' does not name one GPU", trim(value)), "write gpu:0");
          },
          .make = [](const Region& region) -> Expected<std::unique_ptr<Buffer>> {
            return fail_usage(subject_of(region.placement), "only GPU copies can access its memory",
                              "numatlas transfer copies to and from GPUs");
          }};
}

MemoryPlacement gpu_memory(int gpu) {
  MemoryPlacement placement;
  placement.mode = MemoryMode::inherit;
  placement.source = fmt::format("gpu:{}", gpu);
  return placement;
}

int gpu_of(const MemoryPlacement& placement) {
  if (source_of(placement).word != "gpu") return -1;
  return whole_number<int>(source_value(placement)).value_or(-1);
}

}  // namespace numatlas

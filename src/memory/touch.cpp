#include "memory/touch.h"

#include "base/signals.h"
#include "placement/kernel_calls.h"

namespace numatlas {

void touch_pages(std::byte* start, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes && !stop_requested(); at += kernel::page_size())
    reinterpret_cast<volatile char*>(start)[at] = 0;
}

}  // namespace numatlas

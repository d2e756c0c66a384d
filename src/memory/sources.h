// Internal: the memory sources behind allocate().
#pragma once

#include <memory>

#include "memory/buffer.h"

namespace numatlas {

Expected<std::unique_ptr<Buffer>> allocate_anonymous(const Region& region);
std::unique_ptr<Buffer> allocate_null(const Region& region);

}  // namespace numatlas

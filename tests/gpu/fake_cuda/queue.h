// What the calls share that queue something.
#pragma once

#include <cstddef>

#include "fake.h"

namespace fake {

/// The stream of a handle of the current device; nullptr is its default stream. Returns an error.
int stream_of(void* handle, Stream*& stream);
int copy_to_peer(Device& to, Address to_address, Device& from, Address from_address,
                 std::size_t bytes, void* handle);

}  // namespace fake

// Internal: what sources with folders share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/source.h"
#include "placement/source_text.h"

namespace numatlas {

/// A path of --memory, as it was written: UTF-8 without control characters, as it stands in tables
/// and JSON. `what` it has to name, and an example, for the error of an empty one.
Expected<std::string> parse_path(std::string_view value, const std::string& word, const char* what,
                                 const char* example);

/// The room of a folder's file system; nullopt where nobody knows what is free.
std::optional<Room> folder_room(const std::string& folder);
/// Whether a folder can hold files: there, a folder, may be written to.
Expected<void> check_folder(const MemoryPlacement& placement);
/// "ext4", "tmpfs"; "a file system" when /proc/self/mountinfo does not tell.
std::string file_system_of(const std::string& folder);
/// Whether the files of a folder are the nodes' memory: those of tmpfs are.
bool is_node_memory(const std::string& folder, const Machine& machine);

/// Whether files made in a folder are mapped without the page cache; nullopt: nobody says.
std::optional<bool> maps_directly(const std::string& folder);
/// Where a file of a folder lies: by the kernel for the page cache, by the devices for DAX.
Residency file_residency(const void* start, std::size_t bytes, const std::string& folder,
                         bool direct, const ProcessMappings& mappings = ProcessMappings());
/// The memory of a file that `call` made in the region's folder; `direct` without the page cache.
std::unique_ptr<Buffer> file_buffer(const Region& region, void* start, const char* call,
                                    bool direct, Buffer::Functions functions);
/// The error of a call on a file: permission, resource for a full disk, interrupted, else io.
tl::unexpected<Error> file_error(const Region& region, const std::string& call, int error);

}  // namespace numatlas

// Internal: the memory sources behind allocate().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/buffer.h"
#include "placement/memory_source.h"

namespace numatlas {

Expected<std::unique_ptr<Buffer>> allocate_anonymous(const Region& region);
std::unique_ptr<Buffer> allocate_null(const Region& region);
Expected<std::unique_ptr<Buffer>> allocate_pmem(const Region& region);
Expected<std::unique_ptr<Buffer>> allocate_dax(const Region& region);
Expected<std::unique_ptr<Buffer>> allocate_memkind(const Region& region);

/// Looks at the sources of regions that will be alive at the same time on this host: page kinds (on
/// every machine), and on the live one libraries, folders and devices, and the room on each for all
/// of them. Errors name --memory (--pages).
Expected<void> check_sources(const std::vector<Region>& regions, const Machine& machine);
/// Whether a file of `bytes` for one region has room in its folder. Asked before a file is made: a
/// file system that runs full on the way is full for all its users.
Expected<void> check_room(const Region& region, std::uint64_t bytes);
/// What memkind takes of a file for so many bytes.
std::uint64_t memkind_bytes(std::uint64_t bytes);

/// Whether a source can be had: its library, the kind.
Expected<void> check_pmem();
Expected<void> check_memkind(const MemoryPlacement& placement);
/// Kinds that memkind says are available here, without MEMKIND_. Error: the library is not there.
Expected<std::vector<std::string>> available_kinds();

/// Whether a folder can hold files: there, a folder, may be written to.
Expected<void> check_folder(const MemoryPlacement& placement);
/// Bytes that files of this user may take in a folder; nullopt when that is not known.
std::optional<std::uint64_t> free_in(const std::string& folder);
/// "ext4", "tmpfs"; "a file system" when /proc/self/mountinfo does not tell.
std::string file_system_of(const std::string& folder);

/// What is told of memory in files there when it is not persistent memory.
std::string page_cache_note(const std::string& folder);
/// Whether files made in a folder are mapped without the page cache; nullopt: nobody says.
std::optional<bool> maps_directly(const std::string& folder);
/// Where a file of a folder lies: by the kernel for the page cache, by the devices for DAX.
Residency file_residency(const void* start, std::size_t bytes, const std::string& folder,
                         bool direct);
/// The error of a call on a file: permission, resource for a full disk with figures, else io.
tl::unexpected<Error> file_error(const Region& region, const std::string& call, int error);

/// Node that a file of sysfs names; nullopt where it is absent or -1 (the firmware does not say).
std::optional<NodeId> node_in(const std::string& file);
/// Node of a device's memory by its folder of sysfs: target_node, else the nearest (numa_node).
std::optional<NodeId> node_of_device(const std::string& folder);

/// A device-DAX character device.
struct DaxDevice {
  std::string name;  ///< "dax0.0"
  std::uint64_t size = 0, alignment = 0;
  std::optional<NodeId> node;  ///< of its memory; else the nearest
};
/// Errors name the placement: no such device, not one of these, in use as system memory.
Expected<DaxDevice> find_dax(const MemoryPlacement& placement);
/// Bytes that a region takes on a device: whole units of its alignment.
std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t alignment);

}  // namespace numatlas

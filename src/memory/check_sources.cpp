// Whether what is not anonymous memory can be had, for all regions that are alive together.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "memory/sources.h"

namespace numatlas {
namespace {

/// What regions ask of one file system or device.
struct Demand {
  std::uint64_t bytes = 0;
  std::size_t regions = 0;
  MemoryPlacement first;  ///< of the first of them
};

void add_demand(Demand& demand, const Region& region, std::uint64_t bytes) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (demand.regions++ == 0) demand.first = region.placement;
  demand.bytes = bytes > most - demand.bytes ? most : demand.bytes + bytes;
}

tl::unexpected<Error> too_little(const Demand& demand, std::uint64_t there, const char* what,
                                 const std::string& where) {
  return fail_about(
      ErrorKind::resource, option_text(demand.first),
      fmt::format("{} needed by {} region{}, {} {} {}", to_rounded_text(Bytes{demand.bytes}),
                  demand.regions, demand.regions == 1 ? "" : "s", to_rounded_text(Bytes{there}),
                  what, where),
      "", "use a smaller --size or fewer workers; --skip-too-large skips such sizes");
}

Expected<void> check_file_systems(const std::vector<Region>& regions) {
  std::map<dev_t, Demand> demands;
  for (const Region& region : regions) {
    const MemorySource source = source_of(region.placement);
    const bool by_memkind = source.kind == SourceKind::memkind_directory;
    if (source.kind != SourceKind::pmem && !by_memkind) continue;
    struct stat status {};
    if (stat(source.name.c_str(), &status) != 0) continue;  // check_folder has looked
    add_demand(demands[status.st_dev], region,
               by_memkind ? memkind_bytes(region.bytes.value) : region.bytes.value);
  }
  for (const auto& [device, demand] : demands) {
    const std::string folder = source_of(demand.first).name;
    const auto left = free_in(folder);
    if (left && demand.bytes > *left) {
      return too_little(demand, *left, "free on", file_system_of(folder));
    }
  }
  return {};
}

Expected<void> check_devices(const std::vector<Region>& regions) {
  std::map<std::string, Demand> demands;
  std::map<std::string, std::uint64_t> sizes;
  for (const Region& region : regions) {
    if (source_of(region.placement).kind != SourceKind::dax) continue;
    const auto device = find_dax(region.placement);
    if (!device) return fail(device.error());
    add_demand(demands[device->name], region, rounded_up(region.bytes.value, device->alignment));
    sizes[device->name] = device->size;
  }
  for (const auto& [name, demand] : demands) {
    if (demand.bytes > sizes[name]) return too_little(demand, sizes[name], "is the size of", name);
  }
  return {};
}

Expected<void> check_source(const MemoryPlacement& placement) {
  switch (source_of(placement).kind) {
    case SourceKind::anonymous:
    case SourceKind::null:
    case SourceKind::gpu: return {};  // its driver says what it has when it is asked for some
    case SourceKind::memkind: return check_memkind(placement);
    case SourceKind::memkind_directory: {
      if (auto there = check_memkind(placement); !there) return there;
      return check_folder(placement);
    }
    case SourceKind::pmem: {
      if (auto there = check_pmem(); !there) return there;
      return check_folder(placement);
    }
    case SourceKind::dax: return check_pmem();  // the device is looked at with its size
  }
  return {};
}

}  // namespace

std::uint64_t memkind_bytes(std::uint64_t bytes) {
  // jemalloc has four sizes from one power of two to the next, and pads by a page; its own tables
  // of a folder's kind lie elsewhere.
  constexpr std::uint64_t pad = 64 * kib;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (bytes > most / 2) return most;
  std::uint64_t power = 4 * pad;
  while (power * 2 < bytes + pad) power *= 2;
  return rounded_up(bytes + pad, power / 4);
}

Expected<void> check_room(const Region& region, std::uint64_t bytes) {
  const std::string folder = source_of(region.placement).name;
  const auto left = free_in(folder);
  if (!left || bytes <= *left) return {};
  Demand demand;
  add_demand(demand, region, bytes);
  return too_little(demand, *left, "free on", file_system_of(folder));
}

Expected<void> check_sources(const std::vector<Region>& regions, const Machine& machine) {
  std::set<std::string> seen;
  for (const Region& region : regions) {
    const SourceKind kind = source_of(region.placement).kind;
    if (kind == SourceKind::anonymous || kind == SourceKind::null || kind == SourceKind::gpu)
      continue;
    if (region.pages != PageKind::base) {
      return fail_usage(fmt::format("--pages {}", name_of(region.pages)),
                        fmt::format("memory of {} has the pages that its source gives",
                                    option_text(region.placement)),
                        "leave --pages out");
    }
    if (!machine.is_live() || !seen.insert(region.placement.source).second) continue;
    if (auto there = check_source(region.placement); !there) return there;
  }
  if (seen.empty()) return {};
  if (auto fits = check_file_systems(regions); !fits) return fits;
  return check_devices(regions);
}

}  // namespace numatlas

// Whether what is not anonymous memory can be had, for all regions that are alive together.
#include "memory/check_sources.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "placement/source_text.h"

namespace numatlas {
namespace {

/// What regions ask of one file system.
struct Demand {
  Room room;
  std::uint64_t bytes = 0;
  std::size_t regions = 0;
  MemoryPlacement first;  ///< of the first of them
};

void add_demand(Demand& demand, const Region& region, const Room& room) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (demand.regions++ == 0) {
    demand.first = region.placement;
    demand.room = room;
  }
  const std::uint64_t bytes = source_of(region.placement).taken(region.bytes.value);
  demand.bytes = bytes > most - demand.bytes ? most : demand.bytes + bytes;
}

/// Whether there is room for all that share some.
Expected<void> check_rooms(const std::vector<Region>& regions) {
  std::map<std::string, std::optional<Room>> rooms;  // by the placement's text
  std::map<std::string, Demand> demands;
  for (const Region& region : regions) {
    const std::string& text = region.placement.source;
    if (!rooms.contains(text)) {
      rooms[text] = TRY(source_of(region.placement).room(region.placement));
    }
    if (const auto& room = rooms[text]) add_demand(demands[room->name], region, *room);
  }
  for (const auto& [name, demand] : demands) {
    const Room& room = demand.room;
    if (demand.bytes <= room.bytes) continue;
    return fail_about(
        ErrorKind::resource, subject_of(demand.first),
        fmt::format("{} needed by {} region{}, {} {}", to_rounded_text(Bytes{demand.bytes}),
                    demand.regions, demand.regions == 1 ? "" : "s",
                    to_rounded_text(Bytes{room.bytes}), room.text));
  }
  return {};
}

}  // namespace

Expected<void> check_sources(const std::vector<Region>& regions, const Machine& machine) {
  std::set<std::string> seen;
  for (const Region& region : regions) {
    const MemorySource& source = source_of(region.placement);
    if (region.pages != PageKind::base && !source.takes_pages) {
      return fail_usage(
          subject_of(region.pages),
          fmt::format("{} has the pages that its source gives", subject_of(region.placement)),
          "leave the pages to the source");
    }
    if (!machine.is_live() || !seen.insert(region.placement.source).second) continue;
    TRY(source.probe(region.placement));
  }
  if (!machine.is_live()) return {};
  return check_rooms(regions);
}

}  // namespace numatlas

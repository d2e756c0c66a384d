// Whether regions fit, before any is touched: an overfull node would call the kernel's OOM killer,
// which gives no error to report.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/tree.h"
#include "machine/allowance.h"
#include "machine/sysfs_nodes.h"
#include "memory/pools.h"
#include "memory/source.h"
#include "placement/source_text.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

using std::uint64_t;

/// 10 PiB times some workers must not wrap round to a small number.
uint64_t add(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

/// Kept back from what is free: page tables take 0.2 % of base pages, the kernel keeps a reserve of
/// about 0.5 % that it defends by killing, and the processes themselves and their neighbours grow
/// meanwhile. 2 %, at least 64 MiB, but never more than half; a quarter of it shortly before the
/// memory is touched.
uint64_t margin(uint64_t free, Reserve reserve) {
  const uint64_t whole = std::min(std::max(free / 50, 64 * mib), free / 2);
  return reserve == Reserve::whole ? whole : whole / 4;
}

std::string rounded(uint64_t bytes) { return to_rounded_text(Bytes{bytes}); }

/// What regions ask of one file system.
struct Demand {
  Room room;
  uint64_t bytes = 0;
  std::size_t regions = 0;
  std::string subject;  ///< of the first of them
};

/// Whether there is room for all that share some.
Expected<void> check_rooms(const std::vector<Region>& regions) {
  std::map<std::string, std::optional<Room>> rooms;  // by the placement's text
  std::map<std::string, Demand> demands;
  for (const Region& region : regions) {
    const MemorySource& source = source_of(region.placement);
    const std::string& text = region.placement.source;
    if (!rooms.contains(text)) {
      rooms[text] = TRY(source.room(region.placement));
    }
    const auto& room = rooms[text];
    if (!room) continue;
    Demand& demand = demands[room->name];
    if (demand.regions++ == 0) {
      demand.room = *room;
      demand.subject = subject_of(region.placement);
    }
    demand.bytes = add(demand.bytes, source.taken(region.bytes.value));
  }
  for (const auto& [name, demand] : demands) {
    if (demand.bytes <= demand.room.bytes) continue;
    return fail_about(
        ErrorKind::resource, demand.subject,
        fmt::format("{} needed by {} region{}, {} {}", rounded(demand.bytes), demand.regions,
                    demand.regions == 1 ? "" : "s", rounded(demand.room.bytes), demand.room.text));
  }
  return {};
}

/// Whether the sources are there: kinds of pages (on every machine), and on the live one libraries,
/// folders, and the room on each for all of them. Errors are about "memory", or "pages".
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

/// What a region takes: transparent huge pages are given whole.
uint64_t taken_by(const Region& region, const Machine& machine) {
  if (region.pages != PageKind::thp || !machine.page_size) return region.bytes.value;
  const uint64_t page = thp_size_over(*machine.page_size).value;
  const uint64_t pages = pages_for(region.bytes.value, page);
  return pages > std::numeric_limits<uint64_t>::max() / page ? region.bytes.value : pages * page;
}

/// What a node can still give.
struct Supply {
  uint64_t free = 0;      ///< file cache that can be dropped included
  uint64_t cache = 0;     ///< how much of it is file cache
  bool is_total = false;  ///< `free` is the node's size: nobody knows what is free
};
using Supplies = std::map<int, Supply>;

/// As it is now; nullopt where the node does not say.
std::optional<Supply> live_supply(const Machine& machine, const NumaNode& node) {
  const Tree& tree = running_system();
  NumaNode now;
  now.id = node.id;
  read_node_memory(tree, now);
  // A kernel without NUMA.
  if (machine.nodes.size() == 1 && !now.memory_total) read_machine_memory(tree, now);
  if (!now.memory_free) return std::nullopt;
  const uint64_t cache = now.memory_cache.value_or(Bytes{}).value;
  return Supply{now.memory_free->value + cache, cache};
}

Supplies supplies_of(const Machine& machine) {
  Supplies supplies;
  for (NodeId id : machine.usable_memory_nodes()) {
    const NumaNode* node = machine.find_node(id);
    if (node == nullptr) continue;
    if (machine.is_live()) {
      if (const auto supply = live_supply(machine, *node)) {
        supplies[id.value] = *supply;
        continue;
      }
    }
    if (node->memory_free) {
      const uint64_t cache = node->memory_cache.value_or(Bytes{}).value;
      supplies[id.value] = Supply{node->memory_free->value + cache, cache};
    } else if (node->memory_total) {
      // A recorded machine may not say what was free; more than there is never fits.
      supplies[id.value] = Supply{node->memory_total->value, 0, true};
    }
  }
  return supplies;
}

bool uses_pool(const Region& region) { return is_from_pool(region.pages); }

/// Pages of a region that must lie on the nodes of a set.
uint64_t pages_on(const NodeSet& set, const Region& region, uint64_t page_size) {
  const MemoryPlacement& placement = region.placement;
  const uint64_t pages = pages_for(region.bytes.value, page_size);
  if (placement.mode == MemoryMode::bind) {
    return (placement.node_set() - set).empty() ? pages : 0;
  }
  if (placement.mode != MemoryMode::interleave && placement.mode != MemoryMode::weighted) return 0;
  // The kernel would put what does not fit elsewhere: another placement than the asked one, so it
  // counts as not fitting.
  uint64_t sum = 0;
  const auto shares = weighted_counts(pages, placement.nodes);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (set.contains(placement.nodes[i].first)) sum = add(sum, shares[i]);
  }
  return sum;
}

/// What is asked of the nodes of a set and cannot lie elsewhere.
uint64_t demand_on(const NodeSet& set, const std::vector<Region>& regions) {
  uint64_t sum = 0;
  for (const Region& region : regions) {
    // As it was written: 10 PiB in pages and back would be another figure.
    const bool bound = region.placement.mode == MemoryMode::bind;
    const uint64_t pages = pages_on(set, region, 4 * kib);
    if (pages > 0) sum = add(sum, bound ? region.bytes.value : pages * 4 * kib);
  }
  return sum;
}

/// Sets of nodes on which the demand is compared with the supply: every node that a region needs,
/// alone, and every set that a region is bound to.
std::set<std::vector<int>> node_sets(const std::vector<Region>& regions) {
  std::set<std::vector<int>> sets;
  for (const Region& region : regions) {
    std::vector<int> members;
    for (NodeId node : required_nodes(region.placement)) {
      members.push_back(node.value);
      sets.insert({node.value});
    }
    if (region.placement.mode == MemoryMode::bind) sets.insert(members);
  }
  return sets;
}

NodeSet node_set(const std::vector<int>& members) {
  NodeSet set;
  for (int node : members) set.insert(NodeId{node});
  return set;
}

std::string supply_text(const Supplies& supplies) {
  std::string text;
  for (const auto& [node, supply] : supplies) {
    text += fmt::format("; {} node {}: {}", supply.is_total ? "size of" : "free on", node,
                        rounded(supply.free));
    if (supply.cache > 0) {
      text += fmt::format(" ({} of it file cache that can be dropped)", rounded(supply.cache));
    }
  }
  return text;
}

/// The control group's limit and what is charged to it, file cache that can be dropped left out.
struct GroupLimit {
  uint64_t limit = 0, used = 0;
  std::string source;
  uint64_t left() const { return limit > used ? limit - used : 0; }
};

std::optional<GroupLimit> group_limit(const Machine& machine) {
  const Allowance& allowance = machine.allowance;
  if (!allowance.memory_limit) return std::nullopt;
  GroupLimit group{allowance.memory_limit->value, allowance.memory_used.value_or(Bytes{}).value,
                   allowance.memory_limit_source};
  if (!machine.is_live()) return group;
  const auto slash = group.source.rfind('/');
  if (slash == std::string::npos) return group;
  const std::string folder = group.source.substr(0, slash + 1);
  const auto current = running_system().number(folder + "memory.current");
  const auto usage = running_system().number(folder + "memory.usage_in_bytes");
  if (!current && !usage) return group;
  const auto used = static_cast<uint64_t>(current ? *current : *usage);
  const uint64_t cache =
      group_cache(running_system(), group.source.substr(0, slash), current.has_value())
          .value_or(Bytes{})
          .value;
  group.used = used > cache ? used - cache : 0;
  return group;
}

std::string group_text(const std::optional<GroupLimit>& group) {
  if (!group) return {};
  return fmt::format("; limit of the cgroup: {} with {} used ({})", rounded(group->limit),
                     rounded(group->used), group->source);
}

/// All the figures, for every way of not fitting.
struct Figures {
  uint64_t total = 0;  ///< asked from nodes, pools left out
  std::size_t workers = 0;
  Supplies supplies;
  bool all_known = false;  ///< supplies of all nodes that may be used
  std::optional<GroupLimit> group;
  Reserve reserve = Reserve::whole;

  uint64_t usable(uint64_t available) const { return available - margin(available, reserve); }
  bool fit(uint64_t wanted, uint64_t available) const { return wanted <= usable(available); }
  tl::unexpected<Error> refuse(const std::string& where, uint64_t wanted,
                               uint64_t available) const {
    const bool all = rounded(wanted) == rounded(total);
    return fail_about(ErrorKind::resource, "size",
                      fmt::format("{} worker{} {}{}, but {} is available {} ({} reserved){}{}",
                                  workers, workers == 1 ? " requests" : "s request", rounded(total),
                                  all ? "" : fmt::format(", {} of it {}", rounded(wanted), where),
                                  rounded(usable(available)), all ? where : "there",
                                  rounded(available - usable(available)), supply_text(supplies),
                                  group_text(group)));
  }
};

Expected<void> check_nodes(const Figures& figures, const std::vector<Region>& regions) {
  const Supplies& supplies = figures.supplies;
  for (const std::vector<int>& members : node_sets(regions)) {
    const NodeSet set = node_set(members);
    uint64_t available = 0;
    bool known = true;
    for (int node : members) {
      const auto supply = supplies.find(node);
      known = known && supply != supplies.end();
      if (supply != supplies.end()) available = add(available, supply->second.free);
    }
    const uint64_t wanted = demand_on(set, regions);
    if (known && !figures.fit(wanted, available)) {
      return figures.refuse(fmt::format("on node {}", to_list(set)), wanted, available);
    }
  }
  uint64_t available = 0;
  for (const auto& [node, supply] : supplies) available = add(available, supply.free);
  if (figures.all_known && !supplies.empty() && !figures.fit(figures.total, available)) {
    return figures.refuse("on all nodes together", figures.total, available);
  }
  return {};
}

/// The pools of one page kind: each set of nodes that must give some, and all together.
Expected<void> check_pools(PageKind kind, const std::vector<Region>& all_regions,
                           const Machine& machine) {
  std::vector<Region> regions;
  uint64_t together = 0;
  for (const Region& region : all_regions) {
    if (region.pages != kind) continue;
    regions.push_back(region);
    together = add(together, pages_for(region.bytes.value, huge_page_size(kind).value));
  }
  if (regions.empty()) return {};
  const auto pools = pools_of(kind, machine);
  auto problem = pool_problem(kind, pools, {}, together);
  for (const std::vector<int>& members : node_sets(regions)) {
    const NodeSet set = node_set(members);
    uint64_t pages = 0;
    for (const Region& region : regions) {
      pages = add(pages, pages_on(set, region, huge_page_size(kind).value));
    }
    // That of the fewest nodes says best what to do; sets come in no order of size.
    auto here = pool_problem(kind, pools, set, pages);
    if (here && (!problem || members.size() == 1)) problem = std::move(here);
  }
  if (!problem) return {};
  return fail(*std::move(problem));
}

/// Address space is a process's own, so regions are looked at one by one.
Expected<void> check_address_space(const std::vector<Region>& regions) {
  // User addresses have 47 bits on x86-64 and 48 on arm64; the smaller is far beyond any memory.
  uint64_t most = uint64_t{1} << 47;
  std::string source = "the address space";
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < most) {
    most = limit.rlim_cur;
    source = "the limit of address space (ulimit -v)";
  }
  for (const Region& region : regions) {
    if (region.bytes.value <= most) continue;
    return fail_about(ErrorKind::resource, "size",
                      fmt::format("a region of {} is larger than {}, {}",
                                  rounded(region.bytes.value), source, rounded(most)));
  }
  return {};
}

}  // namespace

Expected<void> check_fits(const std::vector<Region>& regions, const Machine& machine,
                          std::optional<std::size_t> workers, Reserve reserve) {
  TRY(check_sources(regions, machine));
  Figures figures;
  std::vector<Region> of_nodes, of_pools, real;
  for (Region region : regions) {
    const MemorySource& source = source_of(region.placement);
    if (!source.on_host) continue;
    region.placement = region.placement.in_force();
    real.push_back(region);
    if (source.uses_nodes != nullptr ? !source.uses_nodes(region.placement, machine)
                                     : source.on_device(region.placement))
      continue;
    if (!uses_pool(region)) region.bytes = Bytes{taken_by(region, machine)};
    (uses_pool(region) ? of_pools : of_nodes).push_back(region);
    if (!uses_pool(region)) figures.total = add(figures.total, region.bytes.value);
  }
  figures.reserve = reserve;
  figures.workers = workers.value_or(of_nodes.size());
  figures.supplies = supplies_of(machine);
  figures.all_known = figures.supplies.size() == machine.usable_memory_nodes().size();
  figures.group = group_limit(machine);
  for (PageKind kind : pool_page_kinds) {
    TRY(check_pools(kind, of_pools, machine));
  }
  // Pool pages are neither free memory of a node nor charged to the group's memory limit.
  TRY(check_nodes(figures, of_nodes));
  if (figures.group && !figures.fit(figures.total, figures.group->left())) {
    return figures.refuse("under the limit of the cgroup", figures.total, figures.group->left());
  }
  // Whatever files say (a container may show those of another machine): about to be touched.
  struct sysinfo all {};
  if (machine.is_live() && reserve == Reserve::small && ::sysinfo(&all) == 0) {
    const uint64_t there = (uint64_t{all.totalram} + all.totalswap) * all.mem_unit;
    if (figures.total > there)
      return figures.refuse("by what the kernel says of all memory", figures.total, there);
  }
  return check_address_space(real);
}

}  // namespace numatlas

#include "memory/pools.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/tree.h"
#include "machine/sysfs_nodes.h"
#include "placement/kernel_calls.h"
#include "placement/source_text.h"

namespace numatlas {
namespace {

constexpr const char* thp_folder = "/sys/kernel/mm/transparent_hugepage/";

std::string pool_folder(PageKind kind) {
  return fmt::format("hugepages-{}kB/", huge_page_size(kind).value / kib);
}

NodeSet online_nodes() {
  const auto list =
      parse_list<NodeId>(running_system().line("/sys/devices/system/node/online").value_or("0"));
  return list ? *list : NodeSet{NodeId{0}};
}

/// Those of a node's pools that are of a kind.
void add_pools(PageKind kind, NodeId node, const std::vector<HugePagePool>& of_node,
               std::vector<PoolState>& pools) {
  for (const HugePagePool& pool : of_node)
    if (pool.page_size == huge_page_size(kind)) pools.push_back({node, pool.total, pool.free});
}

std::string pool_text(const std::vector<PoolState>& pools) {
  std::string text;
  for (const PoolState& pool : pools) {
    text += fmt::format("{}node {}: {} total, {} free", text.empty() ? "" : "; ", pool.node.value,
                        pool.total, pool.free);
  }
  return text;
}

}  // namespace

std::uint64_t pages_for(std::uint64_t bytes, std::uint64_t page_size) {
  return bytes / page_size + (bytes % page_size != 0 ? 1 : 0);
}

NodeSet required_nodes(const MemoryPlacement& placement) {
  switch (placement.mode) {
    case MemoryMode::bind:
    case MemoryMode::interleave:
    case MemoryMode::weighted: return placement.node_set();
    case MemoryMode::inherit:
    case MemoryMode::local:
    case MemoryMode::prefer: break;
  }
  return {};
}

std::optional<std::vector<PoolState>> pools_of(PageKind kind, const Machine& machine) {
  if (machine.is_live()) return live_pools(kind);
  std::vector<PoolState> pools;
  for (const NumaNode& node : machine.nodes) add_pools(kind, node.id, node.huge_pages, pools);
  if (pools.empty()) return std::nullopt;
  return pools;
}

std::optional<std::vector<PoolState>> live_pools(PageKind kind) {
  std::vector<PoolState> pools;
  for (NodeId node : online_nodes()) {
    const std::string folder = fmt::format("/sys/devices/system/node/node{}/hugepages", node.value);
    add_pools(kind, node, huge_page_pools(running_system(), folder), pools);
  }
  // A kernel without NUMA has the pools of the whole machine only; they count as node 0.
  if (pools.empty())
    add_pools(kind, NodeId{0}, huge_page_pools(running_system(), "/sys/kernel/mm/hugepages"),
              pools);
  if (pools.empty()) return std::nullopt;
  return pools;
}

std::optional<Error> pool_problem(PageKind kind, const std::optional<std::vector<PoolState>>& pools,
                                  const NodeSet& nodes, std::uint64_t pages) {
  const std::string size = to_text(huge_page_size(kind));
  const std::string subject = subject_of(kind);
  if (!pools) {
    return Error{ErrorKind::unavailable,
                 fmt::format("this machine offers no huge pages of {}", size),
                 "use another kind of pages", subject};
  }
  std::uint64_t total = 0, free = 0;
  for (const PoolState& pool : *pools) {
    if (!nodes.empty() && !nodes.contains(pool.node)) continue;
    total += pool.total;
    free += pool.free;
  }
  if (free >= pages) return std::nullopt;
  const std::string where = nodes.empty() ? "" : " on node " + to_list(nodes);
  Error problem{ErrorKind::resource,
                fmt::format("{} of {} {} needed{}, {} {} free ({})",
                            pages == 1 ? "1 page" : fmt::format("{} pages", pages), size,
                            pages == 1 ? "is" : "are", where, free, free == 1 ? "is" : "are",
                            pool_text(*pools)),
                "", subject};
  // Pages in use stay in use, so the pool must grow by what is missing.
  const std::uint64_t missing = pages - free;
  if (nodes.size() == 1) {
    problem.hint = fmt::format(
        "as root: echo {} > /sys/devices/system/node/node{}/hugepages/{}"
        "nr_hugepages",
        total + missing, nodes.front().value, pool_folder(kind));
  } else if (kind == PageKind::huge_2m) {
    std::uint64_t whole = missing;
    for (const PoolState& pool : *pools) whole += pool.total;
    problem.hint = fmt::format(
        "as root: sysctl vm.nr_hugepages={} (spread over the nodes); transparent "
        "huge pages (thp) need no pool",
        whole);
  } else {
    problem.hint = fmt::format(
        "as root: raise /sys/devices/system/node/nodeN/hugepages/{}"
        "nr_hugepages by {} in all",
        pool_folder(kind), missing);
  }
  if (huge_page_size(kind) >= Bytes{512 * mib}) {
    problem.hint += fmt::format(
        "; if memory is too fragmented for it, boot with hugepagesz={} hugepages=N", name_of(kind));
  }
  return problem;
}

std::size_t thp_size() {
  const auto size = running_system().number(std::string(thp_folder) + "hpage_pmd_size");
  if (size && *size > 0) return static_cast<std::size_t>(*size);
  return thp_size_over(Bytes{kernel::page_size()}).value;
}

std::optional<Error> thp_problem() {
  const auto problem = [](std::string message, std::string hint) {
    return Error{ErrorKind::unavailable, std::move(message), std::move(hint),
                 subject_of(PageKind::thp)};
  };
  const std::string global = std::string(thp_folder) + "enabled";
  const auto setting = running_system().line(global);
  if (!setting) {
    return problem(fmt::format("this kernel has no transparent huge pages ({} is missing)", global),
                   "use pages of 2M, or base pages");
  }
  // Linux 6.8 on: a setting a size, which may leave the decision to the one for all.
  const std::string by_size = fmt::format("{}hugepages-{}kB/enabled", thp_folder, thp_size() / kib);
  const std::string own = selected_word(running_system().line(by_size).value_or(""));
  const bool inherits = own.empty() || own == "inherit";
  if ((inherits ? selected_word(*setting) : own) == "never") {
    const std::string& file = inherits ? global : by_size;
    return problem(
        fmt::format("transparent huge pages are switched off: {} is 'never'", file),
        fmt::format("as root: echo madvise > {}; or use base pages, or pages of 2M", file));
  }
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) {
    return problem(
        "transparent huge pages are switched off for this process "
        "(PR_SET_THP_DISABLE, inherited from what started it)",
        "start it from a shell or launcher that does not switch them off");
  }
  return std::nullopt;
}

std::optional<Error> page_kind_problem(PageKind kind, const Machine& machine, const NodeSet& nodes,
                                       Bytes bytes) {
  if (kind == PageKind::base) return {};
  if (kind == PageKind::thp) {
    if (machine.is_live()) return thp_problem();
    for (const Setting& setting : machine.settings) {
      if (setting.source.find("transparent_hugepage/enabled") == std::string::npos) continue;
      if (setting.value == "never" || setting.value.find("[never]") != std::string::npos) {
        return Error{
            ErrorKind::unavailable,
            fmt::format("transparent huge pages are switched off: {} is 'never'", setting.source),
            "", subject_of(PageKind::thp)};
      }
    }
    return {};
  }
  return pool_problem(kind, pools_of(kind, machine), nodes,
                      pages_for(bytes.value, huge_page_size(kind).value));
}

BestPages best_pages(const Machine& machine) {
  if (const auto problem = page_kind_problem(PageKind::thp, machine, {}, Bytes{}))
    return {PageKind::base, problem->message};
  const bool is_known = std::ranges::any_of(
      machine.settings, [](const Setting& setting) { return setting.name == "thp_enabled"; });
  if (!machine.is_live() && !is_known)
    return {PageKind::base, "the record says nothing of transparent huge pages"};
  // Over base pages of 64 KiB they have 512 MiB: more than most of what is measured.
  constexpr Bytes largest{32 * mib};
  const Bytes size = machine.is_live() ? Bytes{thp_size()}
                                       : thp_size_over(machine.page_size.value_or(Bytes{4 * kib}));
  if (size > largest)
    return {PageKind::base, fmt::format("a transparent huge page has {} here", to_text(size))};
  return {PageKind::thp, ""};
}

}  // namespace numatlas

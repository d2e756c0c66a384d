#include "memory/pools.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/tree.h"
#include "placement/kernel_calls.h"
#include "placement/source_text.h"

namespace numatlas {
namespace {

constexpr const char* thp_folder = "/sys/kernel/mm/transparent_hugepage/";

}  // namespace

std::uint64_t pages_for(std::uint64_t bytes, std::uint64_t page_size) {
  return bytes / page_size + (bytes % page_size != 0 ? 1 : 0);
}

std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page_size) {
  const std::uint64_t pages = pages_for(bytes, page_size);
  return pages > std::numeric_limits<std::uint64_t>::max() / page_size ? bytes : pages * page_size;
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

Machine running_nodes() {
  Machine machine;
  machine.source = "live";
  const auto online =
      parse_list<NodeId>(running_system().line("/sys/devices/system/node/online").value_or("0"));
  for (NodeId node : online ? *online : NodeSet{NodeId{0}}) machine.nodes.emplace_back().id = node;
  return machine;
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
  return pool_problem(kind, machine, nodes, bytes);
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

#include "placement/residency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/tree.h"
#include "placement/kernel_calls.h"
#include "placement/mappings.h"

namespace numatlas {
namespace {

/// Up to here every page is asked for (4 GiB of 4 KiB pages, 64 GiB of 64 KiB: some 100 ms).
constexpr std::size_t max_pages_all = std::size_t{1} << 20;
/// Beyond, a sample: its share on a node is then known to better than 0.4 % (95 %).
constexpr std::size_t sample_pages = std::size_t{1} << 16;
/// Pages a call: 128 KiB of addresses and 64 KiB of answers.
constexpr std::size_t chunk_pages = std::size_t{1} << 14;

/// What smaps says about a range; means over the part of each mapping that lies in the range.
struct RangeFacts {
  std::size_t page_size = 0;  ///< smallest of the mappings
  double covered = 0;         ///< bytes of the range that are mapped
  double huge = 0;            ///< bytes in transparent huge pages, estimated by overlap
};

RangeFacts facts_of(const ProcessMappings& mappings, std::uintptr_t start, std::uintptr_t end) {
  RangeFacts facts;
  for (const Mapping& mapping : mappings.smaps()) {
    const auto low = std::max(mapping.start, start);
    const auto high = std::min(mapping.end, end);
    if (low >= high) continue;
    const auto overlap = static_cast<double>(high - low);
    const auto whole = static_cast<double>(mapping.end - mapping.start);
    facts.covered += overlap;
    facts.huge += static_cast<double>(mapping.anonymous_huge) * overlap / whole;
    if (mapping.page_size != 0 && (facts.page_size == 0 || mapping.page_size < facts.page_size)) {
      facts.page_size = mapping.page_size;
    }
  }
  return facts;
}

/// Number of the page to ask for as the k-th of a sample: one of each of the equal parts of the
/// range, at a place within the part that looks random. Evenly spaced pages would see one node only
/// of an interleaved range. Of a sample of all it is the k-th.
std::size_t sampled_page(std::size_t k, std::size_t samples, std::size_t total) {
  // No overflow: at most 2^16 samples of at most 2^45 pages.
  const auto scaled = [&](std::size_t i) { return i * total / samples; };
  const std::size_t first = scaled(k), last = scaled(k + 1);
  // Finaliser of SplitMix64 (Steele, Lea, Flood 2014): always the same sample for the same range.
  std::uint64_t z = (k + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return first + static_cast<std::size_t>(z % std::max<std::size_t>(last - first, 1));
}

void count_status(int status, Residency& seen) {
  if (status >= 0) {
    ++seen.pages_by_node[status];
  } else if (status == -ENOENT) {
    ++seen.untouched;
  } else {
    ++seen.errors;
  }
}

/// Asks for so many of the pages, or all. 0, or the errno of move_pages.
int ask_pages(std::uintptr_t start, std::size_t page_size, std::size_t count, Residency& seen) {
  std::vector<void*> addresses;
  std::vector<int> status;
  for (std::size_t done = 0; done < count;) {
    const std::size_t now = std::min(chunk_pages, count - done);
    addresses.resize(now);
    status.assign(now, -EFAULT);
    for (std::size_t i = 0; i < now; ++i) {
      addresses[i] = reinterpret_cast<void*>(
          start + sampled_page(done + i, count, seen.pages_total) * page_size);
    }
    if (kernel::calls().move_pages(0, now, addresses.data(), nullptr, status.data(), 0) != 0) {
      return errno;
    }
    for (int value : status) count_status(value, seen);
    done += now;
    seen.pages_asked += now;
  }
  return 0;
}

/// Where move_pages is refused: numa_maps of the mappings in the range, as a whole. True when it
/// gave anything.
bool ask_numa_maps(const ProcessMappings& mappings, std::uintptr_t start, std::uintptr_t end,
                   Residency& seen) {
  std::size_t present = 0;
  for (const NumaMapsLine& line : mappings.numa_maps()) {
    if (line.start < start || line.start >= end) continue;
    for (const auto& [node, pages] : line.pages_by_node) {
      seen.pages_by_node[node] += pages;
      present += pages;
    }
  }
  seen.pages_asked = present;
  return present > 0;
}

}  // namespace

ProcessMappings::ProcessMappings() = default;
ProcessMappings::~ProcessMappings() = default;

const std::vector<Mapping>& ProcessMappings::smaps() const {
  std::call_once(smaps_read_, [this] {
    std::istringstream file(running_system().text("/proc/self/smaps", whole_file).value_or(""));
    smaps_ = read_smaps(file);
  });
  return smaps_;
}

const std::vector<NumaMapsLine>& ProcessMappings::numa_maps() const {
  std::call_once(numa_maps_read_, [this] {
    const auto maps = running_system().text("/proc/self/numa_maps", whole_file);
    for (const std::string& text : split_lines(maps.value_or(""))) {
      NumaMapsLine line;
      if (parse_numa_maps_line(text, line)) numa_maps_.push_back(std::move(line));
    }
  });
  return numa_maps_;
}

std::string Residency::page_text() const {
  const std::string by = told_by.empty() ? "" : fmt::format(" (node by the {})", told_by);
  if (!page_size) return "unknown" + by;
  const std::string size = to_text(*page_size);
  const double huge = thp_fraction.value_or(0);
  const std::string huge_size = to_text(thp_size_over(*page_size));
  // Less than half a percent on either side is the ragged end of a range.
  if (huge >= 0.995) return huge_size + " THP" + by;
  if (huge < 0.005) return size + by;
  return fmt::format("{} + {:.0f} % THP{}", size, huge * 100, by);
}

std::optional<NodeId> Residency::main_node() const {
  const auto most =
      std::max_element(pages_by_node.begin(), pages_by_node.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == pages_by_node.end() || most->second == 0) return std::nullopt;
  return NodeId{most->first};
}

std::optional<double> Residency::fraction_on(const NodeSet& nodes) const {
  std::size_t all = 0, there = 0;
  for (const auto& [node, pages] : pages_by_node) {
    all += pages;
    if (nodes.contains(NodeId{node})) there += pages;
  }
  if (all == 0) return std::nullopt;
  return static_cast<double>(there) / static_cast<double>(all);
}

std::size_t pages_moved(const Residency& before, const Residency& after) {
  if (before.pages_by_node.empty() || after.pages_asked == 0) return 0;
  std::size_t arrived = 0;
  for (const auto& [node, pages] : after.pages_by_node) {
    const auto earlier = before.pages_by_node.find(node);
    const std::size_t had = earlier == before.pages_by_node.end() ? 0 : earlier->second;
    arrived += pages > had ? pages - had : 0;
  }
  return static_cast<std::size_t>(
      std::llround(static_cast<double>(arrived) * static_cast<double>(after.pages_total) /
                   static_cast<double>(after.pages_asked)));
}

void tell_by_devices(Residency& seen, const std::vector<NodeId>& nodes) {
  seen.pages_by_node.clear();
  seen.untouched = seen.errors = 0;
  seen.pages_asked = 0;
  if (nodes.empty()) {
    if (!seen.problem.empty()) seen.problem += "; ";
    seen.problem +=
        "the kernel does not tell the nodes of DAX pages, and the device does not say "
        "its own (target_node, numa_node)";
    return;
  }
  seen.told_by = nodes.size() == 1 ? "device" : "devices";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t share = seen.pages_total / nodes.size();
    const std::size_t pages = share + (i < seen.pages_total % nodes.size() ? 1 : 0);
    if (pages > 0) seen.pages_by_node[nodes[i].value] += pages;
  }
}

Residency observe(const void* address, std::size_t bytes, const ProcessMappings& mappings) {
  Residency seen;
  if (bytes == 0) return seen;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const RangeFacts facts = facts_of(mappings, first, first + bytes);
  const std::size_t page = facts.page_size != 0 ? facts.page_size : kernel::page_size();
  const std::uintptr_t start = first / page * page;
  seen.pages_total = (first + bytes - start + page - 1) / page;
  if (facts.page_size != 0) {
    seen.page_size = Bytes{facts.page_size};
    seen.thp_fraction = facts.covered > 0 ? std::min(facts.huge / facts.covered, 1.0) : 0;
  } else {
    seen.problem = mappings.smaps().empty() ? "/proc/self/smaps cannot be read: page size unknown"
                                            : "/proc/self/smaps does not show the range";
  }
  const std::size_t total = seen.pages_total;
  const std::size_t asked = total <= max_pages_all ? total : sample_pages;
  const int error = ask_pages(start, page, asked, seen);
  if (error != 0) {
    const std::string refused = fmt::format("move_pages: {}", errno_text(error));
    const bool have = ask_numa_maps(mappings, first, first + bytes, seen);
    if (!seen.problem.empty()) seen.problem += "; ";
    seen.problem += refused + (have ? "; nodes are those of the whole mapping in numa_maps"
                                    : "; the pages' nodes are unknown");
  }
  return seen;
}

}  // namespace numatlas

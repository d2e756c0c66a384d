#include "report/topology_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "machine/cache_share.h"
#include "machine/memory_slots.h"
#include "machine/pci_link.h"

namespace numatlas {
namespace {

constexpr const char* unknown = "-";
// Lists of CPUs with many gaps (every other CPU of a thousand) are cut here; JSON has them whole.
constexpr std::size_t widest_list = 48;

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell; the first row is the heading. Numbers go to the right,
/// the columns named in `left` to the left.
std::string aligned_columns(const std::vector<Row>& rows, const std::set<std::size_t>& left) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += left.contains(i) ? fmt::format(" {:<{}}", row[i], widths[i])
                               : fmt::format(" {:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string short_list(const std::string& list) {
  if (list.empty()) return unknown;
  if (list.size() <= widest_list) return list;
  return list.substr(0, list.rfind(',', widest_list)) + ",...";
}

/// For warnings and lists of what may be used, where a cut list says how many it stands for.
template <class I>
std::string counted_list(const IdSet<I>& set) {
  return set.empty() ? "none" : fmt::format("{} ({})", short_list(to_list(set)), set.size());
}

std::string size_or_dash(const std::optional<Bytes>& bytes) {
  return bytes ? to_rounded_text(*bytes) : unknown;
}

std::string node_or_dash(const std::optional<NodeId>& id) {
  return id && id->value >= 0 ? fmt::format("{}", id->value) : unknown;
}

std::string number_or_dash(const std::optional<int>& value) {
  return value ? fmt::format("{}", *value) : unknown;
}

std::string word_or_dash(const std::string& word) { return word.empty() ? unknown : word; }

std::string header(const Machine& machine) {
  std::string text = fmt::format("host        {}\n", word_or_dash(machine.host));
  text += fmt::format("system      {}{}{}\n", word_or_dash(machine.os),
                      machine.arch.empty() ? "" : ", " + machine.arch,
                      machine.page_size ? ", pages of " + to_text(*machine.page_size) : "");
  text += fmt::format("processor   {}\n", word_or_dash(machine.cpu_model));
  if (!machine.hypervisor) {
    text += "virtual     " + machine.none_or_unknown("hypervisor", "unknown") + "\n";
  } else {
    text +=
        fmt::format("virtual     {}\n", machine.hypervisor->empty() ? "no" : *machine.hypervisor);
  }
  if (!machine.is_live()) text += fmt::format("recorded    {}\n", machine.source);
  return text;
}

/// "2 MiB 12/16, 1 GiB 0/4" (free of total); pools without pages are left out.
std::string pools_text(const NumaNode& node, const std::string& none) {
  std::string text;
  for (const HugePagePool& pool : node.huge_pages) {
    if (pool.total == 0) continue;
    text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", to_text(pool.page_size), pool.free,
                        pool.total);
  }
  return text.empty() ? none : text;
}

/// "64 GiB", the one next to the memory first.
std::string side_caches_text(const NumaNode& node) {
  std::string text;
  for (const MemorySideCache& cache : node.side_caches)
    text += (text.empty() ? "" : ", ") + to_rounded_text(cache.size);
  return text.empty() ? "none" : text;
}

/// Nodes without CPUs and memory, where they are so many that they hide the others: firmware keeps
/// eight a GPU for parts of its memory.
NodeSet folded_nodes(const Machine& machine) {
  constexpr std::size_t many = 4;
  NodeSet empty;
  for (const NumaNode& node : machine.nodes) {
    if (node.is_empty()) empty.insert(node.id);
  }
  return empty.size() < many ? NodeSet{} : empty;
}

std::vector<NumaNode> shown_nodes(const Machine& machine) {
  const NodeSet folded = folded_nodes(machine);
  std::vector<NumaNode> shown = machine.nodes;
  std::erase_if(shown, [&](const NumaNode& node) { return folded.contains(node.id); });
  return shown;
}

std::string nodes_table(const Machine& machine) {
  const auto any = [&](auto has) { return std::ranges::any_of(machine.nodes, has); };
  const bool tiers = any([](const NumaNode& node) { return node.memory_tier.has_value(); });
  const bool kinds = any([](const NumaNode& node) { return !node.kind.empty(); });
  const bool caches = any([](const NumaNode& node) { return !node.side_caches.empty(); });
  Row heading{"node", "CPUs", "memory", "free"};
  if (tiers) heading.push_back("tier");
  if (kinds) heading.push_back("kind");
  if (caches) heading.push_back("memory-side cache");
  heading.push_back("huge pages free/total");
  std::vector<Row> rows{heading};
  for (const NumaNode& node : shown_nodes(machine)) {
    Row row{fmt::format("{}", node.id.value),
            node.cpus.empty() ? "none" : short_list(to_list(node.cpus)),
            !node.may_have_memory() ? "none" : size_or_dash(node.memory_total),
            !node.may_have_memory() ? unknown : size_or_dash(node.memory_free)};
    if (tiers) row.push_back(node.memory_tier ? fmt::format("{}", *node.memory_tier) : unknown);
    if (kinds) row.push_back(word_or_dash(node.kind));
    if (caches) row.push_back(side_caches_text(node));
    row.push_back(pools_text(node, machine.unread.contains("huge_pages") ? unknown : "none"));
    rows.push_back(std::move(row));
  }
  const std::size_t last = heading.size() - 1;
  std::set<std::size_t> left{1, last};
  if (kinds) left.insert(last - (caches ? 2 : 1));
  const NodeSet empty = folded_nodes(machine);
  return fmt::format("\nNUMA nodes: {}\n", machine.nodes.size()) + aligned_columns(rows, left) +
         (empty.empty() ? ""
                        : fmt::format("  without CPUs and memory, and not shown below: {}\n",
                                      counted_list(empty)));
}

std::string firmware_table(const Machine& machine) {
  std::vector<Row> rows{{"node", "from nodes", "read GB/s", "write GB/s", "read ns", "write ns"}};
  const auto scaled = [](const std::optional<double>& value, double unit) {
    return value ? fmt::format("{:.1f}", *value * unit) : std::string(unknown);
  };
  for (const NumaNode& node : machine.nodes) {
    if (!node.hmat) continue;
    rows.push_back({fmt::format("{}", node.id.value), short_list(to_list(node.hmat->initiators)),
                    scaled(node.hmat->read_bandwidth, 1e-9),
                    scaled(node.hmat->write_bandwidth, 1e-9), scaled(node.hmat->read_latency, 1e9),
                    scaled(node.hmat->write_latency, 1e9)});
  }
  if (rows.size() == 1) return "";
  return "\nFirmware figures (HMAT; claims, not measurements)\n" + aligned_columns(rows, {});
}

std::string distance_table(const Machine& machine) {
  const std::vector<NumaNode> nodes = shown_nodes(machine);
  const bool any =
      std::ranges::any_of(nodes, [](const NumaNode& node) { return !node.distance.empty(); });
  if (!any || nodes.size() < 2) return "";
  Row heading{"node"};
  for (const NumaNode& node : nodes) heading.push_back(fmt::format("{}", node.id.value));
  std::vector<Row> rows{heading};
  for (const NumaNode& from : nodes) {
    Row row{fmt::format("{}", from.id.value)};
    for (const NumaNode& to : nodes) {
      const auto found = from.distance.find(to.id.value);
      row.push_back(found == from.distance.end() ? unknown : fmt::format("{}", found->second));
    }
    rows.push_back(std::move(row));
  }
  return "\nDistances (10 = the node itself)\n" + aligned_columns(rows, {});
}

/// One line a level, kind and size: how many there are, and how many CPUs share each.
std::string caches_table(const Machine& machine) {
  if (machine.caches.empty()) return "\nCaches: not known\n";
  // Level, kind, size, what of it a node's memory has, CPUs that share it.
  using Key = std::tuple<int, std::string, std::uint64_t, std::uint64_t, std::size_t>;
  std::map<Key, std::pair<int, std::optional<Bytes>>> groups;
  for (const Cache& cache : machine.caches) {
    const Bytes share = cache_share(machine, cache, NodeId{});
    auto& group =
        groups[{cache.level, cache.type, cache.size.value, share.value, cache.cpus.size()}];
    ++group.first;
    group.second = cache.line_size;
  }
  std::vector<Row> rows{{"level", "kind", "size", "line", "number", "CPUs each"}};
  for (const auto& [key, group] : groups) {
    const auto& [level, type, size, share, sharers] = key;
    std::string text = size == 0 ? unknown : to_text(Bytes{size});
    if (share != size) text += fmt::format(" ({} a node)", to_rounded_text(Bytes{share}));
    rows.push_back({fmt::format("L{}", level), type, std::move(text), size_or_dash(group.second),
                    fmt::format("{}", group.first), fmt::format("{}", sharers)});
  }
  return "\nCaches\n" + aligned_columns(rows, {1});
}

/// The first core with more than one hardware thread, as an example of how numbers pair up.
std::string siblings_example(const Machine& machine) {
  std::map<std::optional<int>, CpuSet> cores;
  for (const Cpu& cpu : machine.cpus) {
    if (cpu.core) cores[cpu.core].insert(cpu.id);
  }
  for (const Cpu& cpu : machine.cpus) {
    const auto core = cores.find(cpu.core);
    if (core != cores.end() && core->second.size() > 1) {
      return fmt::format("; siblings {}", to_list(core->second));
    }
  }
  return "";
}

std::string cpus_summary(const Machine& machine) {
  std::map<std::optional<int>, int> threads;  // core -> its hardware threads
  const std::set<int> packages = machine.packages();
  for (const Cpu& cpu : machine.cpus) ++threads[cpu.core];
  int fewest = 0, most = 0;
  for (const auto& [core, count] : threads) {
    fewest = fewest == 0 ? count : std::min(fewest, count);
    most = std::max(most, count);
  }
  std::string text = "\nCPUs\n  " + count_text(machine.cpus.size(), "CPU") + ", ";
  const bool known = !machine.unread.contains("cores");
  text +=
      known ? count_text(threads.size(), "core") : "cores " + machine.none_or_unknown("cores", "");
  if (!packages.empty()) text += ", " + count_text(packages.size(), "package");
  if (known) {
    text += fewest == most ? fmt::format(", {} per core", count_text(most, "thread"))
                           : fmt::format(", {} to {} threads per core", fewest, most);
    text += siblings_example(machine);
  }
  text += "\n";
  for (const CpuKind& kind : machine.cpu_kinds) {
    text += fmt::format("  kind {}: CPUs {} ({}){}{}\n", kind.name, short_list(to_list(kind.cpus)),
                        kind.cpus.size(), kind.model.empty() ? "" : ", " + kind.model,
                        kind.capacity ? fmt::format(", capacity {}", *kind.capacity) : "");
  }
  CpuSet homeless;
  for (const Cpu& cpu : machine.cpus) {
    const NumaNode* node = machine.find_node(cpu.node);
    if (node == nullptr || !node->may_have_memory()) homeless.insert(cpu.id);
  }
  if (!homeless.empty()) {
    text += fmt::format("  without memory on a node of their own: {}\n", counted_list(homeless));
  }
  return text;
}

std::string per_cpu_table(const Machine& machine) {
  std::vector<Row> rows{{"CPU", "core", "thread", "package", "node", "may use"}};
  const CpuSet usable = machine.usable_cpus();
  for (const Cpu& cpu : machine.cpus) {
    rows.push_back({fmt::format("{}", cpu.id.value), number_or_dash(cpu.core),
                    fmt::format("{}", cpu.smt_index), number_or_dash(cpu.package),
                    node_or_dash(cpu.node), usable.contains(cpu.id) ? "yes" : "no"});
  }
  return aligned_columns(rows, {});
}

std::string limit_line(const Limit& limit) {
  using Of = Limit::Of;
  const char* what = limit.of == Of::processes   ? "processes"
                     : limit.of == Of::cpu_time  ? "CPU time"
                     : limit.of == Of::file_size ? "size of files"
                                                 : "memory limit";
  const std::string of = limit.of == Of::huge_pages
                             ? " in pages of " + to_text(limit.page_size.value_or(Bytes{}))
                         : limit.of == Of::address_space ? " of address space"
                         : limit.of == Of::data          ? " of data"
                                                         : "";
  const std::string used = limit.used             ? limit.text(*limit.used)
                           : limit.is_of_memory() ? unknown
                                                  : "";
  return fmt::format("  {:<14}{}{}{} ({})\n", what, limit.text(limit.most), of,
                     used.empty() ? "" : ", " + used + " used", limit.source);
}

std::string allowance_text(const Machine& machine) {
  const Allowance& allowance = machine.allowance;
  std::string text = "\nThis process may use\n";
  text += fmt::format("  CPUs          {}\n", counted_list(machine.usable_cpus()));
  if (allowance.affinity != allowance.cpuset) {
    text += fmt::format("    affinity    {}\n", counted_list(allowance.affinity));
    text += fmt::format("    cpuset      {}\n", counted_list(allowance.cpuset));
  }
  if (!machine.isolated_cpus.empty())
    text += fmt::format("    isolated    {} (isolcpus; --cpus isolated takes them)\n",
                        counted_list(machine.isolated_cpus & allowance.cpuset));
  if (allowance.cpu_quota)
    text += fmt::format("  CPU quota     {:.4g} CPUs on average ({})\n", *allowance.cpu_quota,
                        allowance.cpu_quota_source);
  const bool sized = std::ranges::any_of(
      machine.nodes, [](const NumaNode& node) { return node.memory_total.has_value(); });
  text += fmt::format("  memory nodes  {}\n",
                      sized ? counted_list(machine.usable_memory_nodes()) : "unknown");
  const std::vector<Limit> limits = allowance.limits();
  if (std::ranges::none_of(limits, &Limit::is_of_memory))
    text += "  memory limit  " + machine.none_or_unknown("memory_limit", "none") + "\n";
  for (const Limit& limit : limits) text += limit_line(limit);
  if (machine.unread.contains("process_limit"))
    text += "  processes     " + machine.none_or_unknown("process_limit", "") + "\n";
  return text;
}

/// A column of the table of GPUs; one that has nothing for any GPU is left out.
struct GpuColumn {
  const char* heading;
  bool left;  ///< words to the left, numbers to the right
  std::string (*cell)(const Gpu&);
};

constexpr GpuColumn gpu_columns[] = {
    {"GPU", false, [](const Gpu& gpu) { return gpu.index ? fmt::format("{}", *gpu.index) : ""; }},
    {"PCI address", true, [](const Gpu& gpu) { return gpu.pci_address; }},
    {"vendor", true, [](const Gpu& gpu) { return gpu.vendor; }},
    {"device", true, [](const Gpu& gpu) { return gpu.device_id; }},
    {"node", false, [](const Gpu& gpu) { return node_or_dash(gpu.node); }},
    {"driver", true,
     [](const Gpu& gpu) { return gpu.driver.empty() ? std::string("none") : gpu.driver; }},
    {"link", true,
     [](const Gpu& gpu) { return gpu.path.empty() ? "" : link_text(gpu.path.front().link); }},
    {"path GB/s", false,
     [](const Gpu& gpu) {
       const auto limit = path_limit(gpu);
       return limit ? fmt::format("{:.1f}", *limit * 1e-9) : "";
     }},
    {"memory node", false,
     [](const Gpu& gpu) { return gpu.memory_node ? node_or_dash(gpu.memory_node) : ""; }},
    {"memory", false, [](const Gpu& gpu) { return gpu.memory ? size_or_dash(gpu.memory) : ""; }},
    {"name", true, [](const Gpu& gpu) { return gpu.name; }},
};

/// "GPUs 0,1 share the link at 0000:16:00.0 (63.0 GB/s)", by address where they have no numbers.
std::string shared_line(const Machine& machine, const SharedPort& port) {
  const auto numbered = [&](std::size_t i) { return machine.gpus[i].index.has_value(); };
  const bool numbers = std::ranges::all_of(port.gpus, numbered);
  std::string names;
  for (const std::size_t i : port.gpus) {
    const Gpu& gpu = machine.gpus[i];
    names += names.empty() ? "" : numbers ? "," : ", ";
    names += numbers ? fmt::format("{}", *gpu.index) : gpu.pci_address;
  }
  return fmt::format("  GPUs {} share the link at {}{}\n", names, port.pci_address,
                     port.limit ? fmt::format(" ({:.1f} GB/s)", *port.limit * 1e-9) : "");
}

std::string gpus_table(const Machine& machine) {
  if (machine.gpus.empty())
    return "\nGPUs: " + machine.none_or_unknown("gpus", "none found") + "\n";
  std::vector<Row> rows(machine.gpus.size() + 1);
  std::set<std::size_t> left;
  for (const GpuColumn& column : gpu_columns) {
    const auto known = [&](const Gpu& gpu) { return !column.cell(gpu).empty(); };
    if (std::ranges::none_of(machine.gpus, known)) continue;
    if (column.left) left.insert(rows.front().size());
    rows.front().push_back(column.heading);
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      rows[i + 1].push_back(word_or_dash(column.cell(machine.gpus[i])));
    }
  }
  std::string text = "\nGPUs\n" + aligned_columns(rows, left);
  for (const SharedPort& port : shared_ports(machine)) text += shared_line(machine, port);
  return text;
}

std::string persistent_table(const Machine& machine) {
  if (machine.persistent_memory.empty()) {
    return "\nPersistent, DAX and CXL memory: " +
           machine.none_or_unknown("persistent_memory", "none found") + "\n";
  }
  std::vector<Row> rows{{"name", "mode", "size", "near node", "is node"}};
  for (const PersistentMemory& memory : machine.persistent_memory) {
    rows.push_back({memory.name, memory.mode, size_or_dash(memory.size), node_or_dash(memory.node),
                    node_or_dash(memory.target_node)});
  }
  return "\nPersistent, DAX and CXL memory\n" + aligned_columns(rows, {0, 1});
}

/// One line for modules that are alike, and what all channels can carry.
std::string modules_table(const Machine& machine) {
  const MemorySlots& all = machine.memory_slots;
  if (all.slots.empty()) return "";
  const auto speed = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value * 1e-6) : std::string(unknown);
  };
  std::map<Row, int> alike;
  int empty = 0;
  for (const MemorySlot& slot : all.slots) {
    if (slot.is_empty())
      ++empty;
    else
      ++alike[{size_or_dash(slot.size), word_or_dash(slot.type), speed(slot.rated_speed),
               speed(slot.configured_speed)}];
  }
  std::vector<Row> rows{{"number", "size", "type", "rated MT/s", "runs at MT/s"}};
  for (const auto& [cells, count] : alike) {
    rows.push_back({fmt::format("{}", count)});
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  }
  std::string text = "\nMemory modules\n" + aligned_columns(rows, {2});
  if (empty > 0) text += fmt::format("  {} of {} slots empty\n", empty, all.slots.size());
  std::string why;
  const auto peak = peak_of(all, why);
  return text + "  all channels together: " +
         (peak ? fmt::format("at most {:.1f} GB/s\n", *peak * 1e-9) : "not known: " + why + "\n");
}

std::string settings_table(const Machine& machine) {
  if (machine.settings.empty()) return "";
  std::vector<Row> rows;
  for (const Setting& setting : machine.settings) {
    rows.push_back(
        {setting.warning.empty() ? " " : "!", setting.name, setting.value, setting.warning});
  }
  return "\nSettings (! disturbs measurements)\n" + aligned_columns(rows, {0, 1, 2, 3});
}

}  // namespace

std::string topology_table(const Machine& machine, bool per_cpu) {
  std::string text = header(machine) + nodes_table(machine) + firmware_table(machine) +
                     distance_table(machine) + caches_table(machine) + cpus_summary(machine);
  if (per_cpu) text += per_cpu_table(machine);
  text += modules_table(machine) + allowance_text(machine) + gpus_table(machine) +
          persistent_table(machine) + settings_table(machine);
  if (!machine.notes.empty()) text += "\nNotes\n";
  for (const std::string& note : machine.notes) text += "  " + note + "\n";
  return text;
}

}  // namespace numatlas

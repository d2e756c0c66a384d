// What a process may have: every limit is a supply, and regions and stacks ask for parts of it. The
// one place that says what is short, and how much a default may have.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/text.h"
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

/// What nobody knows the size of is never short.
constexpr uint64_t unknown = std::numeric_limits<uint64_t>::max();

/// 10 PiB times some workers must not wrap round to a small number.
uint64_t plus(uint64_t a, uint64_t b) { return a > unknown - b ? unknown : a + b; }
uint64_t times(uint64_t a, uint64_t b) { return b != 0 && a > unknown / b ? unknown : a * b; }

/// Kept back from what is free: page tables take 0.2 % of base pages, the kernel keeps a reserve of
/// about 0.5 % that it defends by killing, and the processes themselves and their neighbours grow
/// meanwhile. 2 %, at least 64 MiB, but never more than half; a quarter of it shortly before the
/// memory is touched.
uint64_t margin(uint64_t free, Reserve reserve) {
  const uint64_t whole = std::min(std::max(free / 50, 64 * mib), free / 2);
  return reserve == Reserve::whole ? whole : whole / 4;
}

std::string rounded(uint64_t bytes) { return to_rounded_text(Bytes{bytes}); }

/// A transparent huge page of this machine; 0 where its base pages are unknown.
uint64_t thp_of(const Region& region, const Machine& machine) {
  if (region.pages != PageKind::thp || !machine.page_size) return 0;
  return thp_size_over(*machine.page_size).value;
}

/// A node's memory as it is now.
NumaNode node_now(const Machine& machine, const NumaNode& node) {
  NumaNode now;
  now.id = node.id;
  read_node_memory(running_system(), now);
  // A kernel without NUMA.
  if (machine.nodes.size() == 1 && !now.memory_total) read_machine_memory(running_system(), now);
  return now.memory_free ? now : node;
}

/// A node's pools as they are now. A kernel without NUMA has those of the whole machine only.
std::vector<HugePagePool> pools_now(const Machine& machine, NodeId node) {
  const Tree& tree = running_system();
  auto pools =
      huge_page_pools(tree, fmt::format("/sys/devices/system/node/node{}/hugepages", node.value));
  if (pools.empty() && machine.nodes.size() == 1)
    pools = huge_page_pools(tree, "/sys/kernel/mm/hugepages");
  return pools;
}

/// What the stack of a thread takes of the address space: what OpenMP was told, else what the C
/// library gives it, which follows `ulimit -s`.
uint64_t stack_bytes(bool now) {
  std::size_t usual = 8 * mib;
  if (!now) return usual;
  if (const auto told = openmp_stack()) return *told;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return usual;
  (void)pthread_attr_getstacksize(&attributes, &usual);
  pthread_attr_destroy(&attributes);
  return usual;
}

/// User addresses have 47 bits on x86-64 and 48 on arm64; the smaller is far beyond any memory.
constexpr uint64_t all_addresses = uint64_t{1} << 47;

/// Page sizes whose pools are looked at alone, or everything.
enum class Look { pages, all };

/// What processes of one host ask of its supplies.
class Account {
 public:
  /// `now`: what the live machine has at this moment, the room of other sources included; else what
  /// `machine` says.
  Account(const std::vector<ProcessDemand>& processes, const Machine& machine, bool now) {
    std::set<PageKind> kinds;
    for (const ProcessDemand& process : processes)
      for (const Region& region : process.regions)
        if (is_from_pool(region.pages) && source_of(region.placement).on_host)
          kinds.insert(region.pages);
    for (PageKind kind : pool_page_kinds)
      if (kinds.contains(kind)) add_pools(kind, machine, now);
    add_nodes(machine, now);
    add_limits(now ? read_limits(running_system()) : machine.allowance.limits(), processes.size());
    // Whatever files say (a container may show those of another machine).
    struct sysinfo all {};
    if (now && ::sysinfo(&all) == 0)
      memory_limits_.push_back(add({.sort = Sort::memory_limit,
                                    .free = (uint64_t{all.totalram} + all.totalswap) * all.mem_unit,
                                    .where = "by what the kernel says of all memory",
                                    .when_touched = true}));
    const uint64_t stack_of_thread = stack_bytes(now);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      for (const Region& region : processes[i].regions) ask(region, regions_++, i, machine, now);
      const uint64_t stacks = processes[i].new_threads * stack_of_thread;
      for (const Set& set : {address_space_[i], data_[i]})
        if (!set.empty()) asked_[ask(set)].by_stacks += stacks;
    }
  }

  /// Which supply is short, and by how much; nullopt: none is. Of `workers`, as errors count them.
  std::optional<Error> shortage(Look look, Reserve reserve, std::size_t workers) const {
    if (no_such_pages_) return no_such_pages_;
    std::vector<Set> sets;
    for (const Asked& asked : asked_) sets.push_back(asked.of);
    // That of the fewest supplies says best what to do.
    std::ranges::sort(sets, {}, [&](const Set& set) {
      return std::tuple(sort_of(set), supplies_[set.front()].pages, set.size(), set);
    });
    for (const Set& set : sets) {
      if (look == Look::pages && sort_of(set) > Sort::pool) break;
      if (supplies_[set.front()].when_touched && reserve == Reserve::whole) continue;
      const Asked asked = all_asked_of(set);
      // No size would help: where threads start it is said (engine/team.cpp).
      if (asked.by_stacks > usable(set, reserve)) continue;
      const uint64_t all = plus(asked.by_regions, asked.by_stacks);
      if (all > usable(set, reserve)) return error_of(set, all, reserve, workers);
    }
    return std::nullopt;
  }

  /// Of every region, in order: how many times its size it could have, alike for all that share a
  /// supply, if all of them take no more than `part` of each. Whole pools: nobody else uses them.
  std::vector<double> factors(double part) const {
    std::vector<double> of_sets(asked_.size(), std::numeric_limits<double>::infinity());
    for (const Asked& one : asked_) {
      const uint64_t free = free_of(one.of);
      const Asked all = all_asked_of(one.of);
      if (free == unknown || all.by_regions == 0 || supplies_[one.of.front()].when_touched)
        continue;
      const bool of_pages = sort_of(one.of) <= Sort::pool;
      if (of_pages && free == 0) continue;  // there is nothing to be measured, whatever its size
      // Beside regions: stacks, and what transparent huge pages are aligned with.
      const bool of_process =
          sort_of(one.of) == Sort::address_space || sort_of(one.of) == Sort::data;
      const uint64_t beside = plus(all.by_stacks, of_process ? regions_ * 2 * mib : 0);
      const double room =
          std::max(0.0, static_cast<double>(free) * (of_pages ? std::min(1.0, 2 * part) : part) -
                            static_cast<double>(beside));
      const double factor = room / static_cast<double>(all.by_regions);
      const auto limit = [&](std::size_t place) {
        of_sets[place] = std::min(of_sets[place], factor);
      };
      if (one.of.size() == 1) limit(places_.at(one.of));
      for (std::size_t i = 0; one.of.size() > 1 && i < asked_.size(); ++i)
        if (within(asked_[i].of, one.of)) limit(i);
    }
    std::vector<double> factors(regions_, std::numeric_limits<double>::infinity());
    for (const auto& [region, place] : shares_)
      factors[region] = std::min(factors[region], of_sets[place]);
    return factors;
  }

 private:
  /// In the order in which they are looked at.
  enum class Sort { page_limit, pool, node, memory_limit, address_space, data, file_system };
  struct Supply {
    Sort sort = Sort::node;
    std::uint64_t free = 0;
    std::string text = {};      ///< its figures, for errors
    std::string where = {};     ///< "under the limit of the cgroup"; of nodes and pools nothing
    bool has_reserve = false;   ///< a part of it is kept back
    bool when_touched = false;  ///< says nothing of a plan
    NodeId node = {};
    PageKind pages = PageKind::base;
    std::uint64_t total = 0;   ///< pages of a pool
    std::string subject = {};  ///< of a file system: of the first region
    std::size_t regions = 0;
  };
  /// Supplies of one sort that give something together, by their place among all.
  using Set = std::vector<std::size_t>;
  struct Asked {
    Set of;
    std::uint64_t by_regions = 0, by_stacks = 0;
  };

  std::size_t add(Supply supply) {
    supplies_.push_back(std::move(supply));
    return supplies_.size() - 1;
  }

  void add_nodes(const Machine& machine, bool now) {
    const NodeSet usable = machine.usable_memory_nodes();
    for (const NumaNode& recorded : machine.nodes) {
      if (!usable.contains(recorded.id)) continue;
      const NumaNode node = now ? node_now(machine, recorded) : recorded;
      Supply supply{.free = unknown, .has_reserve = true, .node = node.id};
      // A recorded machine may not say what was free; more than there is never fits.
      if (node.memory_free || node.memory_total) {
        const uint64_t cache = node.memory_free ? node.memory_cache.value_or(Bytes{}).value : 0;
        supply.free = node.room().value_or(node.memory_total.value_or(Bytes{})).value;
        supply.text = fmt::format("{} node {}: {}", node.memory_free ? "free on" : "size of",
                                  node.id.value, rounded(supply.free));
        if (cache > 0)
          supply.text += fmt::format(" ({} of it file cache that can be dropped)", rounded(cache));
      }
      nodes_[node.id] = add(std::move(supply));
      usable_nodes_.push_back(nodes_[node.id]);
    }
  }

  /// Of every node, also of those that have none.
  void add_pools(PageKind kind, const Machine& machine, bool now) {
    bool offered = false;
    for (const NumaNode& node : machine.nodes) {
      Supply supply{.sort = Sort::pool, .node = node.id, .pages = kind};
      for (const HugePagePool& pool : now ? pools_now(machine, node.id) : node.huge_pages) {
        if (pool.page_size != huge_page_size(kind)) continue;
        offered = true;
        supply.free = times(pool.free, pool.page_size.value);
        supply.total = pool.total;
        supply.text =
            fmt::format("node {}: {} total, {} free", node.id.value, pool.total, pool.free);
      }
      pools_[kind][node.id] = add(std::move(supply));
    }
    if (!offered && !no_such_pages_)
      no_such_pages_ = Error{
          ErrorKind::unavailable,
          fmt::format("this machine offers no huge pages of {}", to_text(huge_page_size(kind))),
          "use another kind of pages", subject_of(kind)};
  }

  void add_limits(const std::vector<Limit>& limits, std::size_t processes) {
    address_space_.resize(processes);
    data_.resize(processes);
    for (const Limit& limit : limits) {
      if (!limit.is_of_memory()) continue;
      Supply supply{
          .free = limit.left(),
          .text = fmt::format("{}: {} with {} used ({})", name_of(limit), limit.text(limit.most),
                              limit.text(limit.held()), limit.source),
          .where = "under the " + name_of(limit),
          .has_reserve = true};
      if (limit.of == Limit::Of::memory) {
        supply.sort = Sort::memory_limit;
        memory_limits_.push_back(add(std::move(supply)));
      } else if (limit.of == Limit::Of::huge_pages) {
        for (auto& [kind, pools] : pools_) {
          if (huge_page_size(kind) != limit.page_size) continue;
          supply.sort = Sort::page_limit;
          supply.pages = kind;
          supply.has_reserve = false;  // nobody else's
          page_limits_[kind].push_back(add(supply));
        }
      } else {
        const bool of_data = limit.of == Limit::Of::data;
        supply.sort = of_data ? Sort::data : Sort::address_space;
        for (std::size_t i = 0; i < processes; ++i)
          (of_data ? data_ : address_space_)[i].push_back(add(supply));
      }
    }
    for (Set& of_process : address_space_) {
      if (!of_process.empty()) continue;
      of_process.push_back(add(
          {.sort = Sort::address_space, .free = all_addresses, .where = "in the address space"}));
    }
  }

  std::size_t ask(const Set& set) {
    const auto [place, is_new] = places_.emplace(set, asked_.size());
    if (is_new) asked_.push_back({set});
    return place->second;
  }

  void ask(const Set& set, uint64_t bytes, std::size_t region) {
    if (set.empty()) return;
    const std::size_t place = ask(set);
    asked_[place].by_regions = plus(asked_[place].by_regions, bytes);
    shares_.emplace_back(region, place);
  }

  /// bind must fit on its nodes together, interleave and weighted share by share (the kernel would
  /// put what does not fit elsewhere: another placement than the asked one), the others anywhere.
  void ask_nodes(const Region& region, const std::map<NodeId, std::size_t>& there, const Set& any,
                 uint64_t page, std::size_t index) {
    const MemoryPlacement& placement = region.placement;
    if (!any.empty()) (void)ask(any);
    // Of a node that this process may not use nobody knows here what it has.
    const auto set_of = [&](NodeId node) {
      return there.contains(node) ? Set{there.at(node)} : any;
    };
    switch (placement.mode) {
      case MemoryMode::bind: {
        std::set<std::size_t> set;
        for (const auto& [node, weight] : placement.nodes)
          for (const std::size_t supply : set_of(node)) set.insert(supply);
        return ask({set.begin(), set.end()}, region.bytes.value, index);
      }
      case MemoryMode::interleave:
      case MemoryMode::weighted: {
        const auto counts = weighted_counts(pages_for(region.bytes.value, page), placement.nodes);
        for (std::size_t i = 0; i < counts.size(); ++i) {
          if (counts[i] > 0) ask(set_of(placement.nodes[i].first), counts[i] * page, index);
        }
        return;
      }
      case MemoryMode::inherit:
      case MemoryMode::local:
      case MemoryMode::prefer: return ask(any, region.bytes.value, index);
    }
  }

  void ask_folder(const Region& region, std::size_t index) {
    const MemorySource& source = source_of(region.placement);
    const auto room = source.room(region.placement);
    if (!room) return;
    const auto [place, is_new] = folders_.emplace(room->name, supplies_.size());
    if (is_new)
      add({.sort = Sort::file_system,
           .free = room->bytes,
           .text = room->text,
           .subject = subject_of(region.placement)});
    ++supplies_[place->second].regions;
    ask({place->second}, source.taken(region.bytes.value), index);
  }

  void ask(const Region& asked, std::size_t index, std::size_t process, const Machine& machine,
           bool now) {
    const MemorySource& source = source_of(asked.placement);
    if (!source.on_host) return;
    Region region = asked;
    region.placement = asked.placement.in_force();
    if (now) ask_folder(region, index);
    const bool from_pool = is_from_pool(region.pages);
    const bool on_device = source.on_device(region.placement);
    if (source.uses_nodes != nullptr ? source.uses_nodes(region.placement, machine) : !on_device) {
      const uint64_t page = from_pool ? huge_page_size(region.pages).value : 4 * kib;
      // Transparent huge pages are given whole.
      const uint64_t given = from_pool ? page : thp_of(region, machine);
      if (given > 0) region.bytes = Bytes{whole_pages(region.bytes.value, given)};
      if (from_pool) {
        // Neither free memory of a node nor charged to the group's memory limit.
        const auto& pools = pools_.at(region.pages);
        Set any;
        for (const auto& [node, pool] : pools) any.push_back(pool);
        ask_nodes(region, pools, any, page, index);
        ask(page_limits_[region.pages], region.bytes.value, index);
      } else {
        ask_nodes(region, nodes_, usable_nodes_, page, index);
        for (const std::size_t limit : memory_limits_) ask({limit}, region.bytes.value, index);
      }
    }
    // Huge pages begin at their own multiples, for which more is mapped at first.
    const uint64_t addresses = plus(region.bytes.value, thp_of(region, machine));
    ask(address_space_[process], addresses, index);
    if (!on_device) ask(data_[process], addresses, index);
  }

  uint64_t free_of(const Set& set) const {
    uint64_t free = 0;
    for (const std::size_t supply : set) free = plus(free, supplies_[supply].free);
    return free;
  }

  uint64_t usable(const Set& set, Reserve reserve) const {
    const uint64_t free = free_of(set);
    return supplies_[set.front()].has_reserve && free != unknown ? free - margin(free, reserve)
                                                                 : free;
  }

  /// Whether what is asked of `part` has to come from `set`. Most sets have one supply.
  static bool within(const Set& part, const Set& set) {
    return set.size() == 1 ? part == set : std::ranges::includes(set, part);
  }

  /// Of these supplies by all that cannot have it elsewhere.
  Asked all_asked_of(const Set& set) const {
    Asked sum{set};
    if (set.size() == 1) return asked_[places_.at(set)];
    for (const Asked& asked : asked_) {
      if (!within(asked.of, set)) continue;
      sum.by_regions = plus(sum.by_regions, asked.by_regions);
      sum.by_stacks = plus(sum.by_stacks, asked.by_stacks);
    }
    return sum;
  }

  Error pool_error(const Set& set, uint64_t asked) const {
    const Supply& first = supplies_[set.front()];
    const PageKind kind = first.pages;
    const uint64_t page = huge_page_size(kind).value;
    const uint64_t pages = pages_for(asked, page), free = free_of(set) / page;
    const std::string size = to_text(Bytes{page});
    Error problem{ErrorKind::resource, "", "", subject_of(kind)};
    problem.message = fmt::format("{} of {} {} needed", count_text(pages, "page"), size,
                                  pages == 1 ? "is" : "are");
    if (first.sort == Sort::page_limit) {
      problem.message += fmt::format(", the control group allows {} ({})",
                                     free == 0 ? "none" : std::to_string(free), first.text);
      problem.hint = "have that limit raised, or use another kind of pages";
      return problem;
    }
    NodeSet nodes;
    uint64_t here = 0, everywhere = 0;
    for (const std::size_t pool : set) {
      nodes.insert(supplies_[pool].node);
      here += supplies_[pool].total;
    }
    std::string texts;
    for (const auto& [node, pool] : pools_.at(kind)) {
      everywhere += supplies_[pool].total;
      if (supplies_[pool].text.empty()) continue;
      texts += (texts.empty() ? "" : "; ") + supplies_[pool].text;
    }
    const bool all = set.size() == pools_.at(kind).size() && set.size() > 1;
    problem.message += fmt::format("{}, {} {} free ({})", all ? "" : " on node " + to_list(nodes),
                                   free, free == 1 ? "is" : "are", texts);
    // Pages in use stay in use, so the pool must grow by what is missing.
    const uint64_t missing = pages - free;
    const std::string folder = fmt::format("hugepages-{}kB/", page / kib);
    if (set.size() == 1) {
      problem.hint =
          fmt::format("as root: echo {} > /sys/devices/system/node/node{}/hugepages/{}nr_hugepages",
                      here + missing, first.node.value, folder);
    } else if (kind == PageKind::huge_2m) {
      problem.hint = fmt::format(
          "as root: sysctl vm.nr_hugepages={} (spread over the nodes); transparent huge pages "
          "(thp) "
          "need no pool",
          everywhere + missing);
    } else {
      problem.hint = fmt::format(
          "as root: raise /sys/devices/system/node/nodeN/hugepages/{}nr_hugepages by {} in all",
          folder, missing);
    }
    if (page >= 512 * mib) {
      problem.hint +=
          fmt::format("; if memory is too fragmented for it, boot with hugepagesz={} hugepages=N",
                      name_of(kind));
    }
    return problem;
  }

  /// With all the figures, for every way of not fitting.
  Error size_error(const Set& set, uint64_t asked, Reserve reserve, std::size_t workers) const {
    const Supply& first = supplies_[set.front()];
    // Nodes and the limit of memory say together how much there is.
    const bool of_memory = first.sort == Sort::node || first.sort == Sort::memory_limit;
    uint64_t total = 0;
    for (const Asked& one : asked_) {
      if (sort_of(one.of) == first.sort && !supplies_[one.of.front()].when_touched)
        total = plus(total, plus(one.by_regions, one.by_stacks));
    }
    NodeSet nodes;
    std::string texts;
    for (const Supply& supply : supplies_) {
      if (of_memory && (supply.sort == Sort::node || supply.sort == Sort::memory_limit) &&
          !supply.text.empty())
        texts += "; " + supply.text;
    }
    for (const std::size_t one : set) {
      nodes.insert(supplies_[one].node);
      if (!of_memory && !supplies_[one].text.empty()) texts += "; " + supplies_[one].text;
    }
    if (const uint64_t stacks = all_asked_of(set).by_stacks; !of_memory && stacks > 0)
      texts += fmt::format("; stacks of threads to start: {}", rounded(stacks));
    std::string where = first.where;
    if (first.sort == Sort::node)
      where = set == usable_nodes_ && set.size() > 1 ? "on all nodes together"
                                                     : fmt::format("on node {}", to_list(nodes));
    const uint64_t free = free_of(set), left = usable(set, reserve);
    const bool all = rounded(asked) == rounded(total) || first.when_touched;
    return {
        ErrorKind::resource,
        fmt::format("{} {} {}{}, but {} is available {}{}{}", count_text(workers, "worker"),
                    workers == 1 ? "requests" : "request", rounded(all ? asked : total),
                    all ? "" : fmt::format(", {} of it {}", rounded(asked), where), rounded(left),
                    all ? where : "there",
                    first.has_reserve ? fmt::format(" ({} reserved)", rounded(free - left)) : "",
                    texts),
        "", "size"};
  }

  Error error_of(const Set& set, uint64_t asked, Reserve reserve, std::size_t workers) const {
    const Supply& first = supplies_[set.front()];
    if (first.sort <= Sort::pool) return pool_error(set, asked);
    if (first.sort != Sort::file_system) return size_error(set, asked, reserve, workers);
    return {ErrorKind::resource,
            fmt::format("{} needed by {}, {} {}", rounded(asked),
                        count_text(first.regions, "region"), rounded(first.free), first.text),
            "", first.subject};
  }

  Sort sort_of(const Set& set) const { return supplies_[set.front()].sort; }

  std::vector<Supply> supplies_ = {};
  std::vector<Asked> asked_ = {};
  std::map<Set, std::size_t> places_ = {};  ///< in `asked_`
  std::size_t regions_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> shares_ = {};  ///< region, place in `asked_`
  std::map<NodeId, std::size_t> nodes_ = {};
  Set usable_nodes_ = {}, memory_limits_ = {};
  std::map<PageKind, std::map<NodeId, std::size_t>> pools_ = {};
  std::map<PageKind, Set> page_limits_ = {};
  std::vector<Set> address_space_ = {}, data_ = {};  ///< of each process
  std::map<std::string, std::size_t> folders_ = {};  ///< by the name of their file system
  std::optional<Error> no_such_pages_ = {};
};

}  // namespace

Expected<void> check_fits(const std::vector<ProcessDemand>& processes, const Machine& machine,
                          std::optional<std::size_t> workers, Reserve reserve) {
  std::set<std::string> seen;
  std::size_t regions = 0;
  for (const ProcessDemand& process : processes) {
    for (const Region& region : process.regions) {
      const MemorySource& source = source_of(region.placement);
      if (region.pages != PageKind::base && !source.takes_pages) {
        return fail_usage(
            subject_of(region.pages),
            fmt::format("{} has the pages that its source gives", subject_of(region.placement)),
            "leave the pages to the source");
      }
      if (source.on_host) ++regions;
      if (!machine.is_live() || !seen.insert(region.placement.source).second) continue;
      TRY(source.probe(region.placement));
    }
  }
  const Account account(processes, machine, machine.is_live());
  auto problem = account.shortage(Look::all, reserve, workers.value_or(regions));
  if (!problem) return {};
  return fail(*std::move(problem));
}

std::optional<Error> pool_problem(PageKind kind, const Machine& machine, const NodeSet& nodes,
                                  Bytes bytes) {
  Region region{bytes, {}, kind};
  if (!nodes.empty()) region.placement.mode = MemoryMode::bind;
  for (NodeId node : nodes) region.placement.nodes.emplace_back(node, 1);
  return Account({{{region}}}, machine, machine.is_live()).shortage(Look::pages, Reserve::small, 1);
}

std::vector<Bytes> sizes_with_room(const std::vector<ProcessDemand>& processes,
                                   const Machine& machine, Bytes size, double part) {
  // Whole pages of every kind, and exact parts of them.
  constexpr double unit = 0x1p40, largest = 0x1p62;
  std::vector<ProcessDemand> ask = processes;
  std::vector<Bytes> sizes, pages;
  for (ProcessDemand& process : ask) {
    for (Region& region : process.regions) {
      // Of an empty pool: its pages would have to come from the nodes first.
      const bool from_pool =
          is_from_pool(region.pages) &&
          std::ranges::any_of(machine.nodes, [&](const NumaNode& node) {
            return std::ranges::any_of(node.huge_pages, [&](const auto& pool) {
              return pool.free > 0 && pool.page_size == huge_page_size(region.pages);
            });
          });
      if (!from_pool) region.pages = PageKind::base;
      pages.push_back(from_pool ? huge_page_size(region.pages) : Bytes{mib});
      region.bytes = Bytes{static_cast<uint64_t>(unit)};
      if (source_of(region.placement).on_device(region.placement)) region.placement.source = "null";
    }
  }
  const std::vector<double> factors = Account(ask, machine, false).factors(part);
  // Powers of two, so that a little more or less of free memory makes no other plan.
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double each = std::min(factors[i] * unit, largest);
    const auto most = std::max(pages[i].value, static_cast<uint64_t>(each));
    sizes.push_back(std::min(size, Bytes{std::bit_floor(most)}));
  }
  return sizes;
}

bool has_room(const std::vector<ProcessDemand>& processes, const Machine& machine, double part) {
  return std::ranges::all_of(Account(processes, machine, false).factors(part),
                             [](double factor) { return factor >= 1; });
}

}  // namespace numatlas

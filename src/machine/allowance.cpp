#include "machine/allowance.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// Where this process stands in one cgroup hierarchy.
struct CgroupPlace {
  bool found = false;
  bool unified = false;  ///< version 2
  std::string mount_point;
  std::string path;  ///< below the mount point, "" for its top

  /// Folders from the process's own to the top of what is visible.
  std::vector<std::string> folders() const {
    std::vector<std::string> all;
    for (std::string at = path;;) {
      all.push_back(mount_point + at);
      if (at.empty()) return all;
      at = at.substr(0, at.rfind('/'));
    }
  }
};

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The process's path in the hierarchy of a controller: version 1 where one carries it, else the
/// unified one ("0::/path").
std::optional<std::pair<std::string, bool>> path_in_hierarchy(const Tree& tree,
                                                              const std::string& controller) {
  std::optional<std::string> unified;
  for (const std::string& line : split_lines(tree.text("/proc/self/cgroup").value_or(""))) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (has_word(controllers, controller)) return std::pair(path, false);
    if (line.starts_with("0::")) unified = path;
  }
  if (unified) return std::pair(*unified, true);
  return std::nullopt;
}

/// Where the hierarchy of a controller is mounted.
std::optional<Mount> find_mount(const Tree& tree, const std::string& controller, bool unified) {
  for (Mount& mount : mounts(tree)) {
    if (unified ? mount.type == "cgroup2"
                : mount.type == "cgroup" && has_word(mount.options, controller))
      return std::move(mount);
  }
  return std::nullopt;
}

CgroupPlace place_of(const Tree& tree, const std::string& controller) {
  CgroupPlace place;
  const auto path = path_in_hierarchy(tree, controller);
  if (!path) return place;
  place.found = true;
  place.unified = path->second;
  place.path = path->first;
  Mount mount;
  mount.top = "/";
  mount.folder = place.unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
  if (const auto found = find_mount(tree, controller, place.unified)) mount = *found;
  place.mount_point = mount.folder;
  // In a container the mounted top may be a part of the path, and the path may not be visible.
  if (mount.top != "/" && (place.path + "/").starts_with(mount.top + "/")) {
    place.path.erase(0, mount.top.size());
  }
  while (place.path.ends_with('/')) place.path.pop_back();
  if (place.path.find("..") != std::string::npos || !tree.exists(place.mount_point + place.path)) {
    place.path.clear();
  }
  return place;
}

std::optional<CpuSet> cpuset_of_cgroup(const Tree& tree) {
  const CgroupPlace place = place_of(tree, "cpuset");
  if (!place.found) return std::nullopt;
  const auto names = place.unified
                         ? std::vector<std::string>{"/cpuset.cpus.effective"}
                         : std::vector<std::string>{"/cpuset.effective_cpus", "/cpuset.cpus"};
  for (const std::string& folder : place.folders()) {
    for (const std::string& name : names) {
      const auto cpus = tree.list<CpuId>(folder + name);
      if (cpus && !cpus->empty()) return cpus;
    }
  }
  return std::nullopt;
}

/// File cache charged to the group of a folder, which can be dropped; version 1 counts the groups
/// below under "total_...".
std::optional<std::uint64_t> group_cache(const Tree& tree, const std::string& folder,
                                         bool unified) {
  const auto text = tree.text(folder + "/memory.stat");
  if (!text) return std::nullopt;
  const std::string prefix = unified ? "" : "total_";
  std::istringstream words(*text);
  std::uint64_t sum = 0, value = 0;
  for (std::string key; words >> key >> value;) {
    if (key == prefix + "active_file" || key == prefix + "inactive_file") sum += value;
  }
  return sum;
}

/// A file that sets a limit, and the one that says what is charged to it.
using LimitFiles = std::pair<std::string, std::string>;

/// Adds the limit that leaves least, of these of the process's group and of those above it: a
/// larger one that is shared with busy neighbours may be the one that binds.
void add_least(const Tree& tree, const CgroupPlace& place, const std::vector<LimitFiles>& files,
               Limit limit, std::vector<Limit>& limits) {
  // Version 1 writes "no limit" as the largest page count in bytes, near 2^63; no machine has 2^62.
  constexpr std::int64_t no_limit = std::int64_t{1} << 62;
  std::optional<Limit> least;
  for (const std::string& folder : place.folders()) {
    limit.cache.reset();
    for (const auto& [most_name, used_name] : files) {
      const auto most = tree.number(folder + "/" + most_name);  // "max" is no number: no limit
      if (!most || *most < 0 || *most >= no_limit) continue;
      const auto used = tree.number(folder + "/" + used_name);
      limit.most = static_cast<std::uint64_t>(*most);
      limit.used =
          used && *used >= 0 ? std::optional(static_cast<std::uint64_t>(*used)) : std::nullopt;
      limit.source = folder + "/" + most_name;
      if (limit.of == Limit::Of::memory && !limit.cache)
        limit.cache = group_cache(tree, folder, place.unified);
      if (!least || limit.left() < least->left()) least = limit;
    }
  }
  if (least) limits.push_back(*std::move(least));
}

/// "2MB" of hugetlb.2MB.max.
std::optional<Bytes> page_size_of(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string_view unit = word.substr(static_cast<std::size_t>(end - word.data()));
  if (error != std::errc{}) return std::nullopt;
  if (unit == "KB") return Bytes{number * kib};
  if (unit == "MB") return Bytes{number * mib};
  if (unit == "GB") return Bytes{number * gib};
  return std::nullopt;
}

/// Pages of the pools: of those that are touched, and of those that are mapped (rsvd).
void add_huge_pages(const Tree& tree, std::vector<Limit>& limits) {
  const CgroupPlace place = place_of(tree, "hugetlb");
  if (!place.found) return;
  const std::string most = place.unified ? ".max" : ".limit_in_bytes";
  const std::string used = place.unified ? ".current" : ".usage_in_bytes";
  constexpr std::string_view word = "hugetlb.";
  std::set<std::string> names;  // a group below may have none of them
  for (const std::string& folder : place.folders())
    for (const std::string& name : tree.names(folder)) names.insert(name);
  for (const std::string& name : names) {
    if (!name.starts_with(word) || !name.ends_with(most)) continue;
    const std::string pages = name.substr(0, name.size() - most.size());
    const auto size = page_size_of(std::string_view(pages).substr(word.size()));
    if (!size) continue;
    add_least(tree, place, {{name, pages + used}, {pages + ".rsvd" + most, pages + ".rsvd" + used}},
              {.of = Limit::Of::huge_pages, .page_size = size}, limits);
  }
}

/// What `ulimit` sets.
void add_shell_limits(const Tree& tree, std::vector<Limit>& limits) {
  const std::string text = tree.text("/proc/self/limits").value_or("");
  const std::string status = tree.text("/proc/self/status").value_or("");
  const auto add = [&](Limit::Of of, std::string_view name, const char* used, const char* source) {
    for (const std::string& line : split_lines(text)) {
      if (!line.starts_with(name)) continue;
      std::istringstream words(line.substr(name.size()));
      std::uint64_t most = 0, kilobytes = 0;
      if (!(words >> most)) continue;  // "unlimited"
      Limit& limit = limits.emplace_back(Limit{of, most});
      limit.source = source;
      std::istringstream value(value_of(status, used).value_or(""));
      if (value >> kilobytes) limit.used = kilobytes * kib;
    }
  };
  add(Limit::Of::address_space, "Max address space", "VmSize", "ulimit -v");
  add(Limit::Of::data, "Max data size", "VmData", "ulimit -d");
  // How much of these is used, the files do not say.
  add(Limit::Of::processes, "Max processes", "", "ulimit -u");
  add(Limit::Of::cpu_time, "Max cpu time", "", "ulimit -t");
  add(Limit::Of::file_size, "Max file size", "", "ulimit -f");
}

/// A run has a thread on each CPU, and its user, or the control group, has other processes. On
/// nearly every machine `ulimit -u` is far beyond that.
bool may_stop_runs(const Limit& processes, std::size_t cpus) {
  constexpr std::uint64_t times = 10;
  return processes.left() < times * cpus;
}

/// Whether the process's group, or one above it, has a file that would set a limit.
bool has_group_file(const Tree& tree, const std::string& controller, const char* unified_name,
                    const char* name) {
  const CgroupPlace place = place_of(tree, controller);
  return place.found && std::ranges::any_of(place.folders(), [&](const std::string& folder) {
           return tree.exists(folder + (place.unified ? unified_name : name));
         });
}

/// Whether what limits the process's group can be seen on the running system, also where no file
/// sets a limit: the top group has none. It cannot where something else is mounted over the groups,
/// or in a namespace of control groups that has not mounted its own part.
bool shows_group(const Tree& tree, const std::string& controller) {
  const auto path = path_in_hierarchy(tree, controller);
  if (!path) return tree.exists("/proc/self/status");  // a kernel without such groups
  const auto mount = find_mount(tree, controller, path->second);
  return mount && mount->top.find("..") == std::string::npos &&
         tree.exists(mount->folder + "/cgroup.procs");
}

struct CpuMaskDeleter {
  void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
};

}  // namespace

std::vector<Mount> mounts(const Tree& tree) {
  std::vector<Mount> all;
  // "36 35 259:0 / /mnt/pmem0 rw,noatime shared:1 - ext4 /dev/pmem0 rw,dax=always": see proc(5).
  for (const std::string& line :
       split_lines(tree.text("/proc/self/mountinfo", whole_file).value_or(""))) {
    std::istringstream words(line);
    std::string word;
    Mount mount;
    words >> word >> word >> mount.device_number >> mount.top >> mount.folder;
    while (words >> word && word != "-") {
    }
    if (words >> mount.type >> word >> mount.options) all.push_back(std::move(mount));
  }
  return all;
}

std::optional<CpuSet> scheduler_affinity() {
  constexpr std::size_t most = 1 << 20;  // CPUs; far above the kernel's own limit
  for (std::size_t count = 1024; count <= most; count *= 2) {
    const std::unique_ptr<cpu_set_t, CpuMaskDeleter> mask(CPU_ALLOC(count));
    if (!mask) return std::nullopt;
    const std::size_t size = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(size, mask.get());
    if (::sched_getaffinity(0, size, mask.get()) == 0) {
      CpuSet cpus;
      for (std::size_t id = 0; id < count; ++id) {
        if (CPU_ISSET_S(id, size, mask.get())) cpus.insert(CpuId{static_cast<int>(id)});
      }
      return cpus;
    }
    if (errno != EINVAL) return std::nullopt;
  }
  return std::nullopt;
}

std::vector<CpuQuota> cpu_quotas(const Tree& tree) {
  const CgroupPlace place = place_of(tree, "cpu");
  std::vector<CpuQuota> quotas;
  if (!place.found) return quotas;
  for (const std::string& folder : place.folders()) {
    // Microseconds of CPU time in each period; version 2 has both in one file, "max" for none.
    const std::string source = folder + (place.unified ? "/cpu.max" : "/cpu.cfs_quota_us");
    std::istringstream text(
        tree.text(source).value_or("") + " " +
        (place.unified ? "" : tree.text(folder + "/cpu.cfs_period_us").value_or("")));
    double quota = 0, period = 0;
    if (text >> quota >> period && quota > 0 && period > 0)
      quotas.push_back({quota / period, source, folder + "/cpu.stat"});
  }
  return quotas;
}

std::vector<Limit> read_limits(const Tree& tree) {
  std::vector<Limit> limits;
  const CgroupPlace place = place_of(tree, "memory");
  if (place.found)
    add_least(tree, place,
              place.unified
                  ? std::vector<LimitFiles>{{"memory.max", "memory.current"},
                                            {"memory.high", "memory.current"}}
                  : std::vector<LimitFiles>{{"memory.limit_in_bytes", "memory.usage_in_bytes"}},
              {.of = Limit::Of::memory}, limits);
  add_huge_pages(tree, limits);
  if (auto processes = process_limit(tree)) limits.push_back(*std::move(processes));
  add_shell_limits(tree, limits);
  std::ranges::stable_sort(limits, {}, &Limit::of);
  return limits;
}

std::optional<Limit> process_limit(const Tree& tree) {
  std::vector<Limit> limits;
  const CgroupPlace place = place_of(tree, "pids");
  if (place.found)
    add_least(tree, place, {{"pids.max", "pids.current"}}, {.of = Limit::Of::processes}, limits);
  return limits.empty() ? std::nullopt : std::optional(limits.front());
}

void leave_limits_open(const Tree& tree, Machine& machine) {
  const std::string why = tree.exists("/sys/fs/cgroup") ? "no files of the control group are there"
                                                        : "/sys/fs/cgroup is not visible";
  const auto look = [&](const char* field, const std::string& controller, const char* unified_name,
                        const char* name) {
    const bool seen = tree.is_live() ? shows_group(tree, controller)
                                     : has_group_file(tree, controller, unified_name, name);
    if (!seen) machine.unread[field] = why;
  };
  look("memory_limit", "memory", "/memory.max", "/memory.limit_in_bytes");
  look("cpu_quota", "cpu", "/cpu.max", "/cpu.cfs_quota_us");
  look("process_limit", "pids", "/pids.max", "/pids.max");
}

Allowance read_allowance(const Tree& tree, const Machine& machine) {
  Allowance allowance;
  const CpuSet all = machine.all_cpus();
  NodeSet nodes;
  for (const NumaNode& node : machine.nodes) nodes.insert(node.id);
  const std::string status = tree.text("/proc/self/status").value_or("");

  std::optional<CpuSet> affinity = tree.is_live() ? scheduler_affinity() : std::nullopt;
  if (!affinity) {
    if (auto set = parse_list<CpuId>(value_of(status, "Cpus_allowed_list").value_or(""))) {
      if (!set->empty()) affinity = *set;
    }
  }
  allowance.affinity = affinity ? *affinity & all : all;
  const auto cpuset = cpuset_of_cgroup(tree);
  allowance.cpuset = cpuset ? *cpuset & all : all;

  const auto memory = parse_list<NodeId>(value_of(status, "Mems_allowed_list").value_or(""));
  allowance.memory_nodes = memory && !memory->empty() ? *memory & nodes : nodes;
  for (Limit& limit : read_limits(tree)) {
    if (limit.of == Limit::Of::processes && !may_stop_runs(limit, all.size())) continue;
    if (limit.of != Limit::Of::memory) {
      allowance.other_limits.push_back(std::move(limit));
      continue;
    }
    allowance.memory_limit = Bytes{limit.most};
    if (limit.used) allowance.memory_used = Bytes{*limit.used};
    if (limit.cache) allowance.memory_cache = Bytes{*limit.cache};
    allowance.memory_limit_source = limit.source;
  }
  for (const CpuQuota& quota : cpu_quotas(tree)) {
    if (allowance.cpu_quota && *allowance.cpu_quota <= quota.cpus) continue;
    allowance.cpu_quota = quota.cpus;
    allowance.cpu_quota_source = quota.source;
  }
  return allowance;
}

}  // namespace numatlas

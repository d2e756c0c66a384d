#include "machine/settings.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/identity.h"
#include "machine/interleave_weights.h"

namespace numatlas {
namespace {

class Reader {
 public:
  Reader(const Tree& tree, Machine& machine) : tree_(tree), machine_(machine) {}

  void add(std::string name, std::string value, std::string source, std::string warning = "") {
    machine_.settings.push_back(
        {std::move(name), std::move(value), std::move(source), std::move(warning)});
  }
  void note(std::string text) { machine_.notes.push_back(std::move(text)); }
  const Tree& tree() const { return tree_; }
  const Machine& machine() const { return machine_; }

 private:
  const Tree& tree_;
  Machine& machine_;
};

void read_page_moving(Reader& reader) {
  const std::string balancing = "/proc/sys/kernel/numa_balancing";
  if (const auto value = reader.tree().text(balancing)) {
    reader.add("numa_balancing", *value, balancing,
               *value == "0" ? ""
                             : "the kernel may move pages between nodes while they are "
                               "measured; turn off with sysctl kernel.numa_balancing=0");
  } else {
    reader.note("numa_balancing: not in this kernel, or hidden");
  }
  const std::string demotion = "/sys/kernel/mm/numa/demotion_enabled";
  if (const auto value = reader.tree().text(demotion)) {
    const bool on = *value == "true" || *value == "1";
    reader.add("demotion", *value, demotion,
               on ? "under memory pressure the kernel may move pages to a slower tier" : "");
  }
  const std::string reclaim = "/proc/sys/vm/zone_reclaim_mode";
  if (const auto value = reader.tree().text(reclaim)) {
    reader.add("zone_reclaim_mode", *value, reclaim,
               *value == "0" ? ""
                             : "a full node reclaims its own pages before others are used, "
                               "which slows allocation");
  }
}

/// Sizes smaller than a PMD that the kernel may give (since Linux 6.8), where not "never".
void read_small_huge_pages(Reader& reader) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  std::map<int, std::string> sizes;  // KiB -> choice
  bool always = false;
  for (const std::string& name : reader.tree().names(folder)) {
    if (!name.ends_with("kB")) continue;
    const auto size = number_after(name.substr(0, name.size() - 2), "hugepages-");
    const auto text = reader.tree().text(fmt::format("{}/{}/enabled", folder, name));
    if (!size || !text) continue;
    const std::string choice = selected_word(*text);
    if (choice == "never") continue;
    sizes[*size] = choice;
    always = always || choice == "always";
  }
  if (sizes.empty()) return;
  std::string value;
  for (const auto& [size, choice] : sizes) {
    value += fmt::format("{}{}kB={}", value.empty() ? "" : " ", size, choice);
  }
  reader.add("thp_sizes", value, folder + "/hugepages-*kB/enabled",
             always ? "memory may get larger pages than asked for" : "");
}

void read_weights(Reader& reader) {
  const InterleaveWeights weights = read_interleave_weights(reader.tree());
  if (weights.of_nodes.empty()) return;
  std::string value;
  for (const auto& [node, weight] : weights.of_nodes)
    value += fmt::format("{}{}={}", value.empty() ? "" : ",", node.value, weight);
  reader.add("interleave_weights", value, std::string(interleave_weight_folder) + "node*");
  if (!weights.automatic_file.empty())
    reader.add("interleave_auto", weights.automatic, weights.automatic_file);
}

void read_thp(Reader& reader) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  const auto enabled = reader.tree().text(folder + "/enabled");
  if (!enabled) {
    reader.note("transparent huge pages: not in this kernel, or hidden");
    return;
  }
  const std::string choice = selected_word(*enabled);
  reader.add("thp_enabled", choice, folder + "/enabled",
             choice == "always" ? "programs get huge pages without asking, so base-page results of "
                                  "other tools are not base-page results"
                                : "");
  if (const auto defrag = reader.tree().text(folder + "/defrag")) {
    const std::string effort = selected_word(*defrag);
    reader.add("thp_defrag", effort, folder + "/defrag",
               effort == "always" ? "a page fault may wait for memory to be compacted" : "");
  }
  read_small_huge_pages(reader);
}

void read_governor(Reader& reader) {
  const std::string folder = "/sys/devices/system/cpu/cpufreq";
  std::map<std::string, CpuSet> governors;
  for (const std::string& name : reader.tree().names(folder)) {
    const auto policy = number_after(name, "policy");
    const auto governor = reader.tree().text(fmt::format("{}/{}/scaling_governor", folder, name));
    if (!policy || !governor) continue;
    std::string members = reader.tree().text(folder + "/" + name + "/affected_cpus").value_or("");
    std::istringstream words(members);  // numbers with spaces between
    for (int cpu = 0; words >> cpu;) governors[*governor].insert(CpuId{cpu});
    if (members.empty()) governors[*governor].insert(CpuId{*policy});
  }
  const std::string source = folder + "/policy*/scaling_governor";
  if (governors.empty()) {
    reader.add("governor", "not visible", source);
    return;
  }
  std::string value = governors.begin()->first;
  if (governors.size() > 1) {
    value = "mixed:";
    for (const auto& [name, cpus] : governors) {
      value += fmt::format(" {} ({})", name, to_list(cpus));
    }
  }
  reader.add("governor", value, source,
             value == "performance" ? "" : "CPU frequencies may change during a measurement");
}

void read_turbo(Reader& reader) {
  const std::string boost = "/sys/devices/system/cpu/cpufreq/boost";
  const std::string no_turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo";
  if (const auto value = reader.tree().number(no_turbo)) {
    reader.add("turbo", *value == 0 ? "on" : "off", no_turbo);
  } else if (const auto on = reader.tree().number(boost)) {
    reader.add("turbo", *on != 0 ? "on" : "off", boost);
  }
}

void read_smt(Reader& reader) {
  const std::string file = "/sys/devices/system/cpu/smt/active";
  const auto active = reader.tree().number(file);
  if (!active) return;
  reader.add("smt", *active != 0 ? "active" : "inactive", file,
             *active != 0 ? "workers on two hardware threads of a core share its caches; use one "
                            "worker per core to avoid this"
                          : "");
}

void read_virtual_machine(Reader& reader) {
  const auto& hypervisor = reader.machine().hypervisor;
  const std::string source = "cpuid, /proc/cpuinfo, /sys/class/dmi/id";
  if (!hypervisor) {
    const auto& unread = reader.machine().unread;
    const auto why = unread.find("hypervisor");
    if (why != unread.end()) reader.note("virtual machine: unknown: " + why->second);
  } else if (!hypervisor->empty()) {
    reader.add("virtual_machine", *hypervisor, source,
               "nodes and caches are what the hypervisor shows; other guests share the memory");
  }
}

void read_clock(Reader& reader) {
  const std::string file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const auto clock = reader.tree().text(file);
  if (clock) reader.add("clocksource", *clock, file);
}

void read_swap(Reader& reader) {
  const auto table = reader.tree().text("/proc/swaps");
  if (!table) return;
  std::uint64_t size = 0;
  std::uint64_t used = 0;
  const std::vector<std::string> lines = split_lines(*table);
  for (std::size_t i = 1; i < lines.size(); ++i) {  // the first line names the columns
    std::istringstream columns(lines[i]);
    std::string device, type;
    std::uint64_t kb_size = 0, kb_used = 0;
    if (!(columns >> device >> type >> kb_size >> kb_used)) continue;
    size += kb_size * kib;
    used += kb_used * kib;
  }
  const std::string value = size == 0 ? "none"
                                      : fmt::format("{} used of {}", to_rounded_text(Bytes{used}),
                                                    to_rounded_text(Bytes{size}));
  reader.add("swap", value, "/proc/swaps",
             used > 0 ? "some memory is swapped out: this machine is or was short of memory" : "");
}

/// What the firmware and the CPUs' own program are: they change latencies and nothing else shows
/// them. Both can be read without root; containers and some guests hide them.
void read_firmware(Reader& reader) {
  const std::string& product = reader.machine().identity.product;
  if (!product.empty()) reader.add("product", product, "/sys/class/dmi/id");
  const std::string words = dmi_words(reader.tree(), {"bios_vendor", "bios_version", "bios_date"});
  if (!words.empty()) reader.add("firmware", words, "/sys/class/dmi/id");
  const std::string version = "/sys/devices/system/cpu/cpu0/microcode/version";
  if (const auto value = reader.tree().text(version)) {
    reader.add("microcode", *value, version);
  } else if (const auto line =
                 value_of(reader.tree().text("/proc/cpuinfo", 8192).value_or(""), "microcode")) {
    reader.add("microcode", *line, "/proc/cpuinfo");
  }
}

}  // namespace

void read_settings(const Tree& tree, Machine& machine) {
  Reader reader(tree, machine);
  read_virtual_machine(reader);
  read_page_moving(reader);
  read_weights(reader);
  read_thp(reader);
  read_governor(reader);
  read_turbo(reader);
  read_smt(reader);
  read_clock(reader);
  read_swap(reader);
  read_firmware(reader);
}

}  // namespace numatlas

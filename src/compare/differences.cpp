#include "compare/compare.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"

namespace numatlas {
namespace {

/// What is told of one machine or run, in its order; what is not told is not there.
using Facts = std::vector<std::pair<std::string, std::string>>;

void add_fact(Facts& facts, std::string what, std::string value) {
  if (!value.empty()) facts.emplace_back(std::move(what), std::move(value));
}

/// Words, each once with how often.
std::string counted_words(const std::vector<std::string>& words) {
  std::map<std::string, int> counts;
  for (const std::string& word : words)
    if (!word.empty()) ++counts[word];
  std::vector<std::string> texts;
  for (const auto& [word, count] : counts)
    texts.push_back(count == 1 ? word : fmt::format("{} x {}", count, word));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void add_caches(Facts& facts, const Machine& machine) {
  std::vector<std::string> caches;
  for (const Cache& cache : machine.caches)
    if (cache.type != "instruction")
      caches.push_back(fmt::format("L{} {}", cache.level, to_text(cache.size)));
  add_fact(facts, "caches", counted_words(caches));
}

void add_nodes(Facts& facts, const Machine& machine) {
  int with_cpus = 0;
  for (const NumaNode& node : machine.nodes) with_cpus += node.cpus.empty() ? 0 : 1;
  add_fact(facts, "NUMA nodes",
           fmt::format("{}, {} of them with CPUs", machine.nodes.size(), with_cpus));
  for (const NumaNode& node : machine.nodes) {
    const std::string name = fmt::format("node {} ", node.id.value);
    add_fact(facts, name + "CPUs", to_list(node.cpus));
    // Kernels keep some MiB more or less.
    if (node.memory_total) add_fact(facts, name + "memory", to_rounded_text(*node.memory_total));
    add_fact(facts, name + "kind", node.kind);
    for (const MemorySideCache& cache : node.side_caches)
      add_fact(facts, name + "memory-side cache", to_text(cache.size));
    std::vector<std::string> distances;
    for (const auto& [other, distance] : node.distance)
      distances.push_back(fmt::format("{}:{}", other, distance));
    add_fact(facts, name + "distances", fmt::format("{}", fmt::join(distances, " ")));
    for (const HugePagePool& pool : node.huge_pages)
      add_fact(facts, fmt::format("{}pages of {}", name, to_text(pool.page_size)),
               std::to_string(pool.total));
  }
}

std::string link_text(const PciLink& link) {
  if (!link.max_speed || !link.max_width) return "";
  return fmt::format(" (PCIe {:g} GT/s x{})", *link.max_speed / 1e9, *link.max_width);
}

void add_gpus(Facts& facts, const Machine& machine) {
  std::vector<std::string> names, drivers;
  for (const Gpu& gpu : machine.gpus) {
    const std::string name = gpu.name.empty() ? gpu.vendor + " " + gpu.device_id : gpu.name;
    names.push_back(name + (gpu.path.empty() ? "" : link_text(gpu.path.front().link)));
    drivers.push_back(gpu.driver);
  }
  add_fact(
      facts, "GPUs",
      machine.gpus.empty() ? machine.unread.contains("gpus") ? "" : "none" : counted_words(names));
  add_fact(facts, "GPU drivers", counted_words(drivers));
}

void add_settings(Facts& facts, const Machine& machine) {
  for (const Setting& setting : machine.settings) {
    // Swap's value is how much is used just now; the hypervisor stands above.
    if (setting.name == "swap" || setting.name == "virtual_machine") continue;
    add_fact(facts, setting.name, setting.value);
  }
}

Facts facts_of(const Machine& machine) {
  Facts facts;
  add_fact(facts, "processor", machine.cpu_model);
  add_fact(facts, "kernel", machine.os);
  add_fact(facts, "architecture", machine.arch);
  if (machine.hypervisor)
    add_fact(facts, "hypervisor", machine.hypervisor->empty() ? "none" : *machine.hypervisor);
  if (machine.page_size) add_fact(facts, "page size", to_text(*machine.page_size));
  add_fact(facts, "CPUs", std::to_string(machine.cpus.size()));
  add_fact(facts, "CPUs that may be used", to_list(machine.usable_cpus()));
  add_nodes(facts, machine);
  add_caches(facts, machine);
  add_settings(facts, machine);
  add_gpus(facts, machine);
  std::vector<std::string> devices;
  for (const PersistentMemory& memory : machine.persistent_memory)
    devices.push_back(memory.name + " " + memory.mode);
  add_fact(facts, "memory behind devices", counted_words(devices));
  return facts;
}

Facts facts_of(const Rows& run) {
  Facts facts;
  add_fact(facts, "numatlas", run.version);
  add_fact(facts, "engine", run.engine);
  add_fact(facts, "instruction set", run.isa);
  add_fact(facts, "MPI", run.comm);
  const std::string options = options_text(run);
  add_fact(facts, "options of " + name_in_survey(run), options.empty() ? "none" : options);
  add_fact(facts, "workers' CPUs of " + name_in_survey(run),
           fmt::format("{}", fmt::join(run.worker_cpus, " ")));
  return facts;
}

std::string warning_of(const std::string& what) {
  if (what == "processor") return "another processor: the verdicts compare machines, not settings";
  if (what == "engine")
    return "measured by another engine: the verdicts say nothing of the machines";
  return "";
}

std::optional<std::string> value_of(const Facts& facts, const std::string& what) {
  for (const auto& [name, value] : facts)
    if (name == what) return value;
  return std::nullopt;
}

std::vector<Difference> differences_between(const Facts& base, const Facts& now) {
  std::vector<Difference> found;
  for (const auto& [what, value] : base) {
    const auto other = value_of(now, what);
    if (other != value) found.push_back({what, "", value, other, warning_of(what)});
  }
  for (const auto& [what, value] : now)
    if (!value_of(base, what)) found.push_back({what, "", std::nullopt, value, warning_of(what)});
  return found;
}

/// Differences of hosts, each once; those that not all have with the hosts that have it.
std::vector<Difference> merged(const std::vector<std::vector<Difference>>& by_host,
                               const std::vector<std::string>& names) {
  std::vector<Difference> all;
  std::vector<std::vector<std::string>> hosts;
  for (std::size_t host = 0; host < by_host.size(); ++host) {
    for (const Difference& one : by_host[host]) {
      const std::size_t at = add_once(all, one);
      hosts.resize(all.size());
      hosts[at].push_back(host < names.size() ? names[host] : fmt::format("host {}", host));
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (hosts[i].size() < by_host.size())
      all[i].hosts = fmt::format("{}", fmt::join(hosts[i], ","));
  return all;
}

std::vector<Difference> machine_differences(const Rows& base, const Rows& now) {
  std::vector<Difference> found;
  if (base.hosts != now.hosts)
    found.push_back({"hosts", "", fmt::format("{}", fmt::join(base.hosts, " ")),
                     fmt::format("{}", fmt::join(now.hosts, " ")), ""});
  std::vector<std::vector<Difference>> by_host;
  const std::size_t count = std::min(base.machines.size(), now.machines.size());
  for (std::size_t i = 0; i < count; ++i)
    by_host.push_back(differences_between(facts_of(base.machines[i]), facts_of(now.machines[i])));
  const auto of_hosts = merged(by_host, base.hosts);
  found.insert(found.end(), of_hosts.begin(), of_hosts.end());
  return found;
}

std::string use_text(const CpuUse& use) {
  std::string text = fmt::format("{:.1f} of {} CPUs", use.others.value_or(0), use.cpus);
  if (use.stolen.value_or(0) >= 0.05) text += fmt::format(", {:.1f} withheld", *use.stolen);
  if (use.throttled.value_or(0) >= 0.05)
    text += fmt::format(", {:.1f} withheld by the CPU quota", *use.throttled);
  return text;
}

/// What else ran while it was measured, where that matters for one of the two.
std::vector<Difference> use_differences(const Rows& base, const Rows& now) {
  std::vector<std::vector<Difference>> by_host;
  const std::size_t hosts = std::max(base.cpu_use.size(), now.cpu_use.size());
  for (std::size_t host = 0; host < hosts; ++host) {
    std::optional<std::string> texts[2];
    bool disturbed = false;
    for (int side = 0; side < 2; ++side) {
      const auto& uses = side == 0 ? base.cpu_use : now.cpu_use;
      if (host >= uses.size() || !uses[host].others) continue;
      texts[side] = use_text(uses[host]);
      disturbed = disturbed || is_disturbed(uses[host]);
    }
    auto& its = by_host.emplace_back();
    if (disturbed)
      its.push_back({"other processes during " + name_in_survey(base), "", texts[0], texts[1],
                     "they may explain differences between the figures"});
  }
  return merged(by_host, base.hosts);
}

}  // namespace

std::vector<Difference> differences_of(const Results& base, const Results& now) {
  // Where several hosts are compared with themselves, their cases say so.
  const bool by_host = !base.runs.empty() && !base.runs.front().rows.empty() &&
                       !base.runs.front().rows.front().on.empty();
  std::vector<std::vector<Difference>> all;
  std::vector<std::string> names;
  for (const Rows& one : base.runs) {
    const auto other = std::ranges::find_if(now.runs, [&](const Rows& run) {
      return name_in_survey(run) == name_in_survey(one) && (!by_host || run.hosts == one.hosts);
    });
    if (other == now.runs.end()) continue;
    auto found = machine_differences(one, *other);
    for (auto& more :
         {differences_between(facts_of(one), facts_of(*other)), use_differences(one, *other)})
      found.insert(found.end(), more.begin(), more.end());
    const std::size_t at =
        add_once(names, by_host ? fmt::format("{}", fmt::join(one.hosts, " ")) : "");
    all.resize(names.size());
    for (Difference& difference : found)  // the runs of a survey share their machine
      add_once(all[at], std::move(difference));
  }
  return merged(all, names);
}

}  // namespace numatlas

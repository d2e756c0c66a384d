#include "published/expected.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "base/units.h"
#include "compare/expect.h"
#include "processors/processor.h"
#include "run/levels.h"

namespace numatlas {
namespace {

/// "DDR5-4800".
std::string memory_text(const std::string& type, double rate) {
  return fmt::format("{}-{:.0f}", type, rate * 1e-6);
}

/// "16 x DDR5-4800" where all modules are alike, else "16 channels".
std::string modules_text(const MemorySlots& slots, std::size_t channels) {
  std::set<std::string> kinds;
  for (const MemorySlot& slot : slots.slots) {
    if (!slot.has_dram()) continue;
    const auto rate = slot.configured_speed ? slot.configured_speed : slot.rated_speed;
    kinds.insert(slot.type.empty() || !rate ? "" : memory_text(slot.type, *rate));
  }
  if (kinds.size() == 1 && !kinds.begin()->empty())
    return fmt::format("{} x {}", channels, *kinds.begin());
  return count_text(channels, "channel");
}

std::optional<PeakRate> peak_of_modules(const MemorySlots& slots) {
  std::string why;
  const auto rate = peak_of(slots, why);
  if (!rate) return std::nullopt;
  std::map<std::string, bool> has_memory;
  for (const MemorySlot& slot : slots.slots) {
    const std::string socket = slot.socket.empty() ? "" : "socket " + slot.socket + " ";
    has_memory[socket + "channel " + slot.channel] |= slot.has_dram();
  }
  PeakRate peak{*rate, "", {}, true};
  for (const auto& [channel, filled] : has_memory)
    if (!filled) peak.empty.push_back(channel);
  peak.text = fmt::format("{} ({})", quantity_text(*rate, "B/s"),
                          modules_text(slots, has_memory.size() - peak.empty.size()));
  return peak;
}

constexpr const char* measures_reads = "bandwidth";

/// Why it is not what published reads are: all workers at once, each on its own node's memory, with
/// the pages that are fastest. "" where it is.
std::string why_other_reads(const RunHead& run) {
  if (std::ranges::find(run.arguments, "--serial") != run.arguments.end())
    return "each worker alone (--serial)";
  if (option_of(run.arguments, "--pages") == "base") return "base pages";
  const std::string memory = option_of(run.arguments, "--memory");
  return memory.empty() || memory == "local" || memory == "inherit" ? "" : "memory of " + memory;
}

/// Whether each core of its one host had a worker.
bool took_all_cores(const Rows& run) {
  CpuSet used;
  for (const std::string& list : run.worker_cpus)
    if (const auto cpus = parse_list<CpuId>(list)) used = used | *cpus;
  std::set<int> missing, taken;
  for (const Cpu& cpu : run.machines.front().cpus)
    (used.contains(cpu.id) ? taken : missing).insert(cpu.core_or_own());
  return !taken.empty() &&
         std::includes(taken.begin(), taken.end(), missing.begin(), missing.end());
}

}  // namespace

std::string processor_name(const std::string& cpu_model) {
  static const std::regex extra(
      R"(\((R|TM)\)|\bIntel\b|\bAMD\b|\bArm\b|\bCPU\b|\bProcessor\b|\b[0-9]+-Core\b|@.*|\bwith .*)",
      std::regex::icase);
  static const std::regex blanks("  +");
  std::string name = std::regex_replace(bounded_model(cpu_model), extra, "");
  if (name.find("Neoverse-") != std::string::npos) std::replace(name.begin(), name.end(), '-', ' ');
  name = std::regex_replace(name, blanks, " ");
  return printable(trim(name));
}

std::optional<int> threads_per_core(const Machine& machine) {
  std::map<int, int> threads;
  for (const Cpu& cpu : machine.cpus) {
    if (!cpu.core) return std::nullopt;
    ++threads[*cpu.core];
  }
  if (threads.empty()) return std::nullopt;
  const int first = threads.begin()->second;
  const bool alike =
      std::ranges::all_of(threads, [&](const auto& one) { return one.second == first; });
  return alike ? std::optional(first) : std::nullopt;
}

std::optional<int> caches_in_mib(const Machine& machine) {
  std::set<const Cache*> seen;
  double bytes = 0;
  for (const Cpu& cpu : machine.cpus) {
    const Cache* const cache = machine.last_level_cache_of(cpu.id);
    if (cache == nullptr) return std::nullopt;
    if (seen.insert(cache).second) bytes += static_cast<double>(cache->size.value);
  }
  const int all = static_cast<int>(std::lround(bytes / mib));
  return all > 0 ? std::optional(all) : std::nullopt;
}

std::optional<PeakRate> peak_rate_of(const Machine& machine) {
  const ProcessorRow* const spec = processor_of(machine);
  if (spec != nullptr && spec->hbm_peak) return std::nullopt;
  if (auto peak = peak_of_modules(machine.memory_slots)) return peak;
  if (spec == nullptr) return std::nullopt;
  const int sockets = sockets_of(machine).count;
  const double rate = spec->peak * sockets;
  const std::string memory = spec->channels
                                 ? fmt::format("{} x {}", *spec->channels * sockets,
                                               memory_text(spec->memory, spec->rate.value_or(0)))
                                 : spec->memory;
  return PeakRate{rate, fmt::format("{} ({})", quantity_text(rate, "B/s"), memory)};
}

AllReads all_reads_of(const Rows& run) {
  if (name_in_survey(run) != measures_reads || run.machines.empty()) return {};
  const auto found = figure_for({"read", 0, "B/s"}, run, 0);
  if (!found) return {};
  AllReads reads{found->estimate};
  if (run.hosts.size() != 1 || run.machines.size() != 1) {
    reads.reason =
        fmt::format("a run of {}: run it on each alone", count_text(run.hosts.size(), "host"));
    return reads;
  }
  const Machine& machine = run.machines.front();
  // What fits the caches may not be read from memory. 0: unknown.
  const Bytes memory = found->memory;
  if (!run.complete)
    reads.reason = "the run is INCOMPLETE";
  else if (!took_all_cores(run))
    reads.reason = "not every core took part";
  else if (memory.value > 0 && memory < last_level_caches(machine, machine.all_cpus()))
    reads.reason = fmt::format("a cache can hold {}", to_text(memory));
  else
    reads.reason = why_other_reads(run);
  return reads;
}

const Rows* first_with_reads(const std::vector<Rows>& runs) {
  const auto found = std::ranges::find_if(runs, [](const Rows& run) {
    const AllReads reads = all_reads_of(run);
    return reads.rate && reads.reason.empty();
  });
  return found == runs.end() ? nullptr : &*found;
}

}  // namespace numatlas

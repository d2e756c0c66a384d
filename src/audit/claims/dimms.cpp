// Memory modules as SMBIOS tells of them: the same in every channel, each at its rated
// speed, and a measured peak that is a fair share of what they can carry together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "base/text.h"

namespace numatlas {
namespace {

using Slots = std::vector<const MemorySlot*>;
/// By socket and channel.
using Channels = std::map<std::pair<std::string, std::string>, Slots>;

std::string speed_number(double speed) { return fmt::format("{:.0f}", speed * 1e-6); }
std::string speed_text(double speed) { return speed_number(speed) + " MT/s"; }

std::string channel_text(const std::pair<std::string, std::string>& channel) {
  const std::string socket = channel.first.empty() ? "" : "socket " + channel.first + " ";
  return socket + "channel " + channel.second;
}

/// "a, b, c, d and 4 more".
std::string shortened(std::vector<std::string> names) {
  constexpr std::size_t most_shown = 4;
  const std::size_t more = names.size() > most_shown ? names.size() - most_shown : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string names_of(const Slots& slots) {
  std::vector<std::string> names;
  for (const MemorySlot* slot : slots) names.push_back("'" + slot->name + "'");
  return shortened(std::move(names));
}

Slots filled(const MemorySlots& all) {
  Slots slots;
  for (const MemorySlot& slot : all.slots) {
    if (slot.has_dram()) slots.push_back(&slot);
  }
  return slots;
}

/// Channels of all slots, empty ones as well.
Channels channels_of(const MemorySlots& all) {
  Channels channels;
  for (const MemorySlot& slot : all.slots) channels[{slot.socket, slot.channel}].push_back(&slot);
  return channels;
}

std::uint64_t bytes_in(const Slots& slots) {
  std::uint64_t bytes = 0;
  for (const MemorySlot* slot : slots) bytes += slot->has_dram() ? slot->size->value : 0;
  return bytes;
}

std::size_t count_filled(const Slots& slots) {
  return static_cast<std::size_t>(std::count_if(
      slots.begin(), slots.end(), [](const MemorySlot* slot) { return !slot->is_empty(); }));
}

/// Every channel has the same memory.
ClaimVerdict population(const MemorySlots& all) {
  if (const std::string why = why_no_channels(all); !why.empty())
    return not_measurable({"channels"}, why);
  const Channels channels = channels_of(all);
  // What most of those with modules have; of two that are as common, the larger.
  std::map<std::uint64_t, std::size_t> sizes, modules;
  for (const auto& [channel, slots] : channels) {
    ++sizes[bytes_in(slots)];
    modules[bytes_in(slots)] = std::max(modules[bytes_in(slots)], count_filled(slots));
  }
  const auto usual = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first > 0, a.second, a.first) < std::tuple(b.first > 0, b.second, b.first);
  });
  ClaimVerdict verdict{.about = "channels"};
  verdict.claimed =
      fmt::format("{} of {} filled, {}", filled(all).size(), count_text(all.slots.size(), "slot"),
                  count_text(channels.size(), "channel"));
  if (sizes.size() == 1) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = fmt::format("{} in each channel", to_text(Bytes{usual->first}));
    return verdict;
  }
  verdict.outcome = ClaimOutcome::contradicted;
  Slots empty, other;
  for (const auto& [size, count] : sizes) {
    if (size == usual->first) continue;
    std::vector<std::string> names;
    for (const auto& [channel, slots] : channels) {
      if (bytes_in(slots) != size) continue;
      names.push_back(channel_text(channel));
      const bool misses = size < usual->first && count_filled(slots) < modules[usual->first];
      for (const MemorySlot* slot : slots) {
        if (misses && slot->is_empty()) empty.push_back(slot);
        if (!slot->is_empty()) other.push_back(slot);
      }
    }
    verdict.found +=
        fmt::format("{} in {}, ", size == 0 ? "none" : to_text(Bytes{size}), shortened(names));
  }
  verdict.found += fmt::format(
      "{} in {}", to_text(Bytes{usual->first}),
      usual->second == 1 ? "the other" : fmt::format("each of the other {}", usual->second));
  if (!empty.empty())
    verdict.next = fmt::format("the {} in {}: missing, or disabled by the firmware's training?",
                               empty.size() == 1 ? "module" : "modules", names_of(empty));
  else
    verdict.next =
        fmt::format("why the size of {} is not that of the other modules", names_of(other));
  return verdict;
}

/// Every module runs at the speed that it is made for.
ClaimVerdict speed(const Slots& modules) {
  std::set<double> ratings;
  std::size_t known = 0;
  Slots slower;
  for (const MemorySlot* module : modules) {
    if (!module->rated_speed) continue;
    ratings.insert(*module->rated_speed);
    if (!module->configured_speed) continue;
    ++known;
    if (*module->configured_speed < *module->rated_speed) slower.push_back(module);
  }
  ClaimVerdict verdict{.about = "speed"};
  if (ratings.empty())
    return not_measurable(std::move(verdict), "the firmware tells no speed of the modules");
  verdict.claimed = fmt::format("{} rated at {}{}", count_text(modules.size(), "module"),
                                ratings.size() > 1 ? "up to " : "", speed_text(*ratings.rbegin()));
  verdict.claimed_value = *ratings.rbegin();
  const std::string note = ratings.size() == 1
                               ? ""
                               : fmt::format(
                                     "; they are not rated alike, down to {}: the slowest of a "
                                     "processor may hold its others down",
                                     speed_text(*ratings.begin()));
  if (known == 0)
    return not_measurable(std::move(verdict), "the firmware does not tell at which speed they run");
  if (slower.empty()) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = known == modules.size()
                        ? "each runs at its own"
                        : fmt::format("the {} whose speed is known run at their own", known);
    verdict.found += note;
    return verdict;
  }
  std::stable_sort(slower.begin(), slower.end(), [](const auto* a, const auto* b) {
    return *a->configured_speed < *b->configured_speed;
  });
  verdict.outcome = ClaimOutcome::contradicted;
  std::vector<std::string> each;
  for (const MemorySlot* module : slower)
    each.push_back(fmt::format("'{}' {} of {}", module->name,
                               speed_number(*module->configured_speed),
                               speed_text(*module->rated_speed)));
  verdict.found = fmt::format("{} of them run{} at less: {}{}", slower.size(),
                              slower.size() == 1 ? "s" : "", shortened(each), note);
  verdict.next =
      "the firmware's memory speed setting, and whether the CPU, two modules a channel or one slow "
      "module hold the others down";
  return verdict;
}

/// The node of DRAM of each socket that has modules, where each socket has one: the rate of its
/// CPUs to it is the socket's. Empty where that cannot be told.
std::map<std::string, NodeId> nodes_of_sockets(const Machine& machine) {
  std::set<std::string> sockets;
  for (const MemorySlot& slot : machine.memory_slots.slots) sockets.insert(slot.socket);
  const std::set<int> packages = machine.packages();
  if (sockets.contains("") || sockets.size() < 2 || sockets.size() != packages.size()) return {};
  std::map<std::optional<int>, std::vector<NodeId>> nodes;
  for (const NumaNode& node : machine.nodes) {
    if (node.cpus.empty() || !node.has_memory()) continue;
    const Cpu* const cpu = machine.find_cpu(node.cpus.front());
    if (cpu != nullptr) nodes[cpu->package].push_back(node.id);
  }
  std::map<std::string, NodeId> found;
  auto socket = sockets.begin();
  for (const int package : packages) {
    if (nodes[package].size() != 1) return {};
    found[*socket++] = nodes[package].front();
  }
  return found;
}

constexpr const char* check_peak =
    "missing or disabled modules (dmidecode -t memory), their speed, and memory errors (EDAC, "
    "rasdaemon)";

/// A share of the peak; more than all of it says that the peak is wrong.
ClaimVerdict judged_peak(ClaimVerdict verdict, const Fact& fact, double peak) {
  verdict = judged_share(std::move(verdict), fact, peak, check_peak);
  if (verdict.outcome == ClaimOutcome::confirmed && *verdict.measured->low > 1 + same_part) {
    verdict.outcome = ClaimOutcome::contradicted;
    verdict.next = "the firmware's table: nothing is faster than all channels together";
  }
  return verdict;
}

/// Of each socket by the matrix, where that was measured; nothing where it does not tell all.
std::vector<ClaimVerdict> peaks_of_sockets(const AuditInput& input) {
  std::vector<ClaimVerdict> verdicts;
  for (const auto& [socket, node] : nodes_of_sockets(input.machine)) {
    MemorySlots its = input.machine.memory_slots;
    const std::string& own = socket;
    std::erase_if(its.slots, [&](const MemorySlot& slot) { return slot.socket != own; });
    std::string why;
    const auto peak = filled(its).empty() ? std::nullopt : peak_of(its, why);
    const std::string number = std::to_string(node.value);
    const Fact* const fact =
        input.find("matrix_bandwidth", {{"cpu_node", number}, {"memory_node", number}});
    if (!peak || fact == nullptr) return {};
    ClaimVerdict verdict{
        .about = "peak socket " + socket,
        .claimed = fmt::format("{} of its channels together, of which {:.0f} % are expected",
                               quantity_text(*peak, "B/s"), input.peak_share * 100),
        .unit = "1"};
    verdict.claimed_value = input.peak_share;
    Fact read = *fact;
    read.words = "read by the CPUs of node " + number;
    verdicts.push_back(judged_peak(std::move(verdict), read, *peak));
  }
  return verdicts;
}

std::vector<ClaimVerdict> peaks(const AuditInput& input) {
  const Machine& machine = input.machine;
  std::string why;
  const auto peak = peak_of(input.machine.memory_slots, why);
  if (!peak) return {not_measurable({"peak"}, why)};
  ClaimVerdict verdict{.about = "peak", .unit = "1"};
  std::set<std::string> sockets;
  for (const MemorySlot* module : filled(input.machine.memory_slots))
    sockets.insert(module->socket);
  verdict.claimed = fmt::format(
      "{} of all channels{} together, of which {:.0f} % are expected", quantity_text(*peak, "B/s"),
      sockets.size() > 1 ? fmt::format(" of {} sockets", sockets.size()) : "",
      input.peak_share * 100);
  verdict.claimed_value = input.peak_share;
  const auto& hypervisor = machine.hypervisor;
  if (!hypervisor || !hypervisor->empty())
    return {
        not_measurable(std::move(verdict),
                       fmt::format("{}: what its modules can carry together is not what it gets",
                                   hypervisor ? "this is a virtual machine"
                                              : "whether this is a virtual machine is unknown"))};
  if (machine.usable_cpus() != machine.all_cpus())
    return {not_measurable(std::move(verdict),
                           fmt::format("{} of {} CPUs may be used, and it takes all of them",
                                       machine.usable_cpus().size(), machine.all_cpus().size()))};
  if (auto each = peaks_of_sockets(input); !each.empty()) return each;
  const Fact* const fact = input.find("peak_bandwidth");
  if (fact == nullptr) return {not_measurable(std::move(verdict), input.why_no("bandwidth"))};
  return {judged_peak(std::move(verdict), *fact, *peak)};
}

std::vector<ClaimVerdict> judge_dimms(const AuditInput& input) {
  const MemorySlots& all = input.machine.memory_slots;
  const Slots modules = filled(all);
  if (modules.empty()) {
    const std::string why =
        all.problem.empty() ? "nothing is recorded of this machine's modules" : all.problem;
    return {not_measurable({"modules"}, why)};
  }
  std::vector<ClaimVerdict> verdicts{population(all), speed(modules)};
  for (ClaimVerdict& one : peaks(input)) verdicts.push_back(std::move(one));
  return verdicts;
}

}  // namespace

const Claim dimms_claim{
    "dimms", "memory modules (SMBIOS): population, speed, and the peak they can carry", "bandwidth",
    [](const Machine& machine) {
      std::string why;
      return !filled(machine.memory_slots).empty() &&
             peak_of(machine.memory_slots, why).has_value();
    },
    judge_dimms};

}  // namespace numatlas
